// All of distributed/. weft.h does not include it: a single-process program does not need it.
#pragma once

#include "distributed/checkpoint.h"
#include "distributed/data_parallel.h"
#include "distributed/error.h"
#include "distributed/functions.h"
#include "distributed/group.h"
#include "distributed/launch.h"
#include "distributed/options.h"
#include "distributed/sampler.h"
#include "distributed/shard.h"
#include "distributed/sync_batch_norm.h"
