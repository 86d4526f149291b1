#include "tests/reference/attention.h"

#include <algorithm>
#include <limits>

#include "tests/reference/matmul.h"
#include "tests/reference/rows.h"

namespace weft::testing::reference {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// A column is seen by rows that are not before it; the last row sees all where there are more columns than rows.
double score(double product, const Array& mask, int64_t row, int64_t column, int64_t more, const AttentionForm& form) {
  if (form.causal && column > row + std::max<int64_t>(more, 0)) return kHidden;
  if (mask.absent) return product * form.scale;
  const double value = mask.at({row, column});
  if (form.bool_mask) return value != 0 ? product * form.scale : kHidden;
  return product * form.scale + value;
}

}  // namespace

Array attention_weights(const Array& q, const Array& k, const Array& mask, const AttentionForm& form) {
  Array out = product(q, transposed(k));
  const int64_t rows = q.size(0), columns = k.size(0);
  double* value = out.values.data();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j, ++value) *value = score(*value, mask, i, j, columns - rows, form);
  return rowwise(
      -1, [](const Row& scores) { return max(scores) == kHidden ? Row(scores.size(), 0.0) : softmax(scores); })(out)[0];
}

AttentionGradient attention_gradient(const Array& g, const Array& q, const Array& k, const Array& v,
                                     const Array& weights, double scale) {
  Array slope = rowwise(-1, softmax_gradient)({product(g, transposed(v)), weights})[0];
  for (double& s : slope.values) s *= scale;
  return {product(slope, k), product(transposed(slope), q), product(transposed(weights), g)};
}

}  // namespace weft::testing::reference
