// The families of the case table: one function each, in <family>_cases.cc.
#pragma once

#include "tests/ops/case.h"

// clang-format off
#define WEFT_CASE_FAMILIES(X) \
  X(binary) X(unary) X(compare) X(view) X(view_error) X(reduce) X(arg_reduce) X(matmul) X(linear) X(conv) X(pool) \
  X(softmax) X(cross_entropy) X(index) X(cat) X(layer_norm) X(batch_norm) X(attention) X(fill) X(optimizer_step) \
  X(adaptive_step) \
  X(einsum) X(products) X(linalg) X(decomposition) X(factorization) X(reflection) \
  X(recurrent) X(group_norm) X(ctc_loss) \
  X(vmap) \
  X(sort) X(unique) X(scan) X(statistics) X(histogram) X(search) \
  X(resample) X(image) X(fractional_pool) X(conv_error) X(pool_error) \
  X(advanced_index) X(index_put) X(masked) X(scatter) X(segment) X(strided_scatter) X(tile) X(split) X(pad_mode) \
  X(elementwise) X(special) X(division) X(activation) X(activation_backward) X(distance) X(blend) X(random) \
  X(einops) X(embedding_bag) X(convention) X(option) X(member) X(member_write)
// clang-format on

namespace weft::testing {

#define WEFT_DECLARE_CASES(family) void add_##family##_cases(Cases& cases);
WEFT_CASE_FAMILIES(WEFT_DECLARE_CASES)
#undef WEFT_DECLARE_CASES

}  // namespace weft::testing
