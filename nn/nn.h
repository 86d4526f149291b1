// All of nn/.
#pragma once

#include "nn/activation.h"
#include "nn/clip.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/layer.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "nn/module.h"
#include "nn/norm.h"
#include "nn/pool.h"
#include "nn/residual.h"
#include "nn/sequential.h"
#include "nn/summary.h"
