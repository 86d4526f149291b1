// Naive attention of one head, and its gradient.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

struct AttentionForm {
  double scale = 1;
  bool causal = false;
  bool bool_mask = false;  // the mask says who is seen; else it is added to the scores
};

/// The softmax of the scores of q (rows, depth) with k (columns, depth); 0 in rows that see nothing. The mask
/// (rows, columns) may be absent.
Array attention_weights(const Array& q, const Array& k, const Array& mask, const AttentionForm& form);

struct AttentionGradient {
  Array q, k, v;
};
/// What of g flows back through the product of the weights with v.
AttentionGradient attention_gradient(const Array& g, const Array& q, const Array& k, const Array& v,
                                     const Array& weights, double scale);

}  // namespace weft::testing::reference
