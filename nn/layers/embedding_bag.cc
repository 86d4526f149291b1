#include "nn/layers/embedding_bag.h"

#include <algorithm>

#include "nn/layers/embedding_rows.h"
#include "tensor/adjoints/embedding_bag.h"
#include "tensor/adjoints/index.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/embedding_bag.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

/// The offsets without the last one, which says where the last bag ends.
Tensor begins_of(const Tensor& offsets, int64_t total) {
  const std::vector<int64_t> ends = dispatch::all_samples(offsets).to_vector<int64_t>();
  const auto count = static_cast<size_t>(offsets.numel());
  bool fits = count > 0;
  for (size_t end = count; fits && end <= ends.size(); end += count) fits = ends[end - 1] == total;
  if (!fits) throw IndexError(text("the last offset must be ", total, ", where the last bag ends"));
  return slice(offsets, 0, 0, offsets.numel() - 1);
}

/// The position of each bag's first index. Without offsets, the indices are (N, L) and each row is a bag.
Tensor begins_of(const Tensor& indices, const Tensor& offsets, bool last_is_end) {
  if (!offsets.defined()) return arange(0, indices.size(0), 1, i64, indices.device()) * indices.size(1);
  const bool is_row = is_integer(offsets.dtype()) && offsets.rank() == 1;  // else the op says what is wrong
  return last_is_end && is_row ? begins_of(offsets, indices.numel()) : offsets;
}

/// The number of indices in each bag without those that are padding; at least 1.
Tensor sizes_of(const Tensor& indices, const Tensor& begins, int64_t padding, DType dtype) {
  const int64_t total = indices.numel(), bags = begins.numel();
  if (bags == 0) return ones({0}, dtype, begins.device());
  Tensor sizes;
  if (padding >= 0) {
    sizes = adjoint::index_add(cast(indices != padding, dtype), 0, adjoint::bag_of_each(begins, total), {bags});
  } else {
    sizes = cast(cat({slice(begins, 0, 1), full({1}, total, begins.dtype(), begins.device())}) - begins, dtype);
  }
  return clip(sizes, 1, std::nullopt);
}

}  // namespace

EmbeddingBag::EmbeddingBag(const EmbeddingBagOptions& options)
    : EmbeddingBag(options, detail::normal_rows("EmbeddingBag", options)) {}

EmbeddingBag::EmbeddingBag(const EmbeddingBagOptions& options, const Tensor& weight)
    : options_(detail::checked_rows("EmbeddingBag", options)) {
  ErrorFrame frame("EmbeddingBag");
  if (options.scale_grad_by_freq && options.mode == Mode::max)
    throw Error("scale_grad_by_freq goes with Mode::sum and Mode::mean only");
  padding_idx_ = detail::padding_row(options.padding_idx, options.num_embeddings);
  weight_ = register_parameter("weight", weight);
  const char* mode = options.mode == Mode::sum ? "sum" : options.mode == Mode::mean ? "mean" : "max";
  detail::OptionList list;
  list.add(options.num_embeddings).add(options.embedding_dim).add("mode", mode);
  detail::list_rows(list, options.padding_idx, detail::row_options(options));
  list.add_unless(false, "include_last_offset", options.include_last_offset);
  describe(list.line());
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& weight, bool freeze, EmbeddingBagOptions options) {
  ErrorFrame frame("EmbeddingBag::from_pretrained", weight);
  EmbeddingBag out(options, detail::pretrained_rows(weight, freeze, options));
  if (freeze) out.requires_grad_(false);
  return out;
}

Tensor EmbeddingBag::forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights) const {
  ErrorFrame frame("EmbeddingBag", indices);
  if (!is_integer(indices.dtype())) throw DtypeError(text("indices must be integers, not ", indices.dtype()));
  if (indices.rank() != (offsets.defined() ? 1 : 2))
    throw ShapeError("indices must be (N, L), or a row together with offsets");
  if (per_sample_weights.defined() && options_.mode != Mode::sum) throw Error("per_sample_weights need Mode::sum");
  if (per_sample_weights.defined() && per_sample_weights.shape() != indices.shape())
    throw ShapeError(text("per_sample_weights must be ", indices.shape(), ", not ", per_sample_weights.shape()));
  const Tensor begins = begins_of(indices, offsets, options_.include_last_offset), list = flatten(indices);
  detail::shorten_rows(list, weight_, detail::row_options(options_));
  const Tensor table = with_scaled_gradient(list);
  if (options_.mode == Mode::max) return embedding_bag_max(list, table, begins, padding_idx_);
  const Tensor factors = per_sample_weights.defined() ? flatten(per_sample_weights) : per_sample_weights;
  const Tensor total = embedding_bag_sum(list, table, begins, factors, padding_idx_);
  if (options_.mode == Mode::sum) return total;
  if (!offsets.defined() && padding_idx_ < 0) return total / std::max<double>(1, static_cast<double>(indices.size(1)));
  return total / unsqueeze(sizes_of(list, begins, padding_idx_, total.dtype()), 1);
}

Tensor EmbeddingBag::with_scaled_gradient(const Tensor& indices) const {
  if (!options_.scale_grad_by_freq || !detail::needs_gradient(weight_)) return weight_;
  const Tensor counts = clip(detail::row_counts(indices, weight_), 1, std::nullopt).to(weight_.dtype());
  return detail::with_gradient_times(weight_.view(weight_.shape()), unsqueeze(1.0 / counts, 1));
}

Tensor EmbeddingBag::operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights) const {
  const auto call = [&](const Tensor& a, const Tensor& b, const Tensor& c) { return forward(a, b, c); };
  return in_layer(*this, call, indices, offsets, per_sample_weights);
}

}  // namespace weft::nn
