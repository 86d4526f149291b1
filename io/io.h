// All of io/ except checkpoints.
#pragma once

#include "io/chart.h"
#include "io/idx.h"
#include "io/image.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/trace.h"
