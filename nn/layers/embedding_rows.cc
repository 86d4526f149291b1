#include "nn/layers/embedding_rows.h"

#include "autograd/grad_mode.h"
#include "autograd/run_again.h"
#include "tensor/adjoints/index.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unique.h"
#include "tensor/functions/view.h"

namespace weft::nn::detail {
int64_t padding_row(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  const int64_t row = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  if (row < 0 || row >= rows)
    throw IndexError(text("padding_idx ", *padding_idx, " is out of range for ", rows, " rows"));
  return row;
}

void check_rows(const RowOptions& options) {
  if (options.max_norm && !(*options.max_norm >= 0))
    throw Error(text("max_norm must be 0 or more, not ", *options.max_norm));
  if (!(options.norm_type > 0)) throw Error(text("norm_type must be positive, not ", options.norm_type));
}

void list_rows(OptionList& list, std::optional<int64_t> padding_idx, const RowOptions& options) {
  if (padding_idx) list.add("padding_idx", *padding_idx);
  if (options.max_norm) list.add("max_norm", *options.max_norm);
  list.add_unless(2.0, "norm_type", options.norm_type);
  list.add_unless(false, "scale_grad_by_freq", options.scale_grad_by_freq);
}

void shorten_rows(const Tensor& indices, const Tensor& weight, const RowOptions& options) {
  if (!options.max_norm || indices.numel() == 0 || !is_integer(indices.dtype())) return;
  autograd::once([&]() -> std::vector<Tensor> {
    NoGrad guard;
    const Tensor rows = unique(indices).values;
    const Tensor values = index_select(weight.detach(), 0, rows);
    const Tensor norms = norm(values, options.norm_type, 1, keepdim), longest = full_like(norms, *options.max_norm);
    const Tensor factors = where(norms > longest, longest / (norms + 1e-7), ones_like(norms));
    weight.detach().index_copy_(0, rows, values * factors);
    return {};
  });
}

Tensor row_counts(const Tensor& indices, const Tensor& weight) {
  // (No bincount: under vmap its shape would depend on values.)
  const Tensor places = indices.flatten().to(i64), one = ones({1}, i64, indices.device());
  return adjoint::scatter_add(expand(one, places.shape()), 0, places, {weight.size(0)});
}

bool needs_gradient(const Tensor& x) { return is_recording() && dispatch::needs_gradient(x); }

Tensor with_gradient_times(Tensor x, const Tensor& scale) {
  const bool samples = x.device().kind == DeviceKind::vmap || scale.device().kind == DeviceKind::vmap;
  if (samples) {
    const Tensor values = x.detach();
    const Tensor scaled = cast(values + (x - values) * scale, x.dtype());
    return where(isfinite(values), scaled, x);  // inf - inf would be NaN
  }
  x.register_hook([scale](const Tensor& g) { return cast(g * scale, g.dtype()); });
  return x;
}

Tensor looked_up(const Tensor& indices, const Tensor& weight, int64_t padding, const RowOptions& options) {
  ErrorFrame frame("embedding", indices, weight);
  shorten_rows(indices, weight, options);
  Tensor y = padding < 0 ? embedding(indices, weight) : embedding(indices, weight, padding);
  if (!options.scale_grad_by_freq || !needs_gradient(y) || indices.numel() == 0) return y;
  const Tensor factor = 1.0 / index_select(row_counts(indices, weight), 0, indices.flatten()).to(weight.dtype());
  return with_gradient_times(y, unsqueeze(reshape(factor, indices.shape()), -1));
}

}  // namespace weft::nn::detail
