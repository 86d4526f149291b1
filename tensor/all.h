// All of tensor/: data types, views and ops.
#pragma once

#include "tensor/autocast.h"
#include "tensor/batching/vmap.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tensor/profiler.h"
#include "tensor/result.h"
#include "tensor/runtime/convolution.h"
#include "tensor/runtime/denormals.h"
#include "tensor/runtime/log.h"
#include "tensor/runtime/threads.h"
#include "tensor/tensor.h"
