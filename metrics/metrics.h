// All of metrics/.
#pragma once

#include "metrics/accuracy.h"
#include "metrics/binary_scores.h"
#include "metrics/calibration.h"
#include "metrics/class_scores.h"
#include "metrics/confusion_matrix.h"
#include "metrics/mean.h"
#include "metrics/perplexity.h"
#include "metrics/regression.h"
