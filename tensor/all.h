// All of tensor/: data types, views and ops.
#pragma once

#include "tensor/allocator.h"
#include "tensor/denormals.h"
#include "tensor/log.h"
#include "tensor/ops_all.h"
#include "tensor/random.h"
#include "tensor/result.h"
#include "tensor/tensor.h"
#include "tensor/threads.h"
