// All of data/.
#pragma once

#include "data/dataset.h"
#include "data/loader.h"
#include "data/mnist.h"
#include "data/padded.h"
#include "data/sampler.h"
#include "data/stream.h"
#include "data/subset.h"
#include "data/synthetic_digits.h"
#include "data/tensor_dataset.h"
#include "data/transform.h"
#include "data/zip.h"
