// All of metrics/.
#pragma once

#include "metrics/accuracy.h"
#include "metrics/auc.h"
#include "metrics/confusion_matrix.h"
#include "metrics/mean.h"
#include "metrics/perplexity.h"
