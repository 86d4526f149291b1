#include "nn/layers/embedding_bag.h"

#include <algorithm>
#include <limits>

#include "nn/init.h"
#include "nn/layers/embedding_rows.h"
#include "nn/layers/options.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

detail::RowOptions row_options(const EmbeddingBagOptions& o) { return {o.max_norm, o.norm_type, o.scale_grad_by_freq}; }

const EmbeddingBagOptions& checked(const EmbeddingBagOptions& o) {
  ErrorFrame frame("EmbeddingBag");
  detail::check_positive("num_embeddings", o.num_embeddings);
  detail::check_positive("embedding_dim", o.embedding_dim);
  detail::check_rows(row_options(o));
  if (o.scale_grad_by_freq && o.mode == EmbeddingBagOptions::Mode::max)
    throw Error("scale_grad_by_freq goes with Mode::sum and Mode::mean only");
  return o;
}

/// Bags as rows of one length: the places of their indices, and which are none (undefined where all are some).
struct Rows {
  Tensor indices, weights, counts;
};

/// The size of the largest bag, in vmap of all samples' bags: rows may be padded further than needed.
int64_t longest_bag(const Tensor& offsets, int64_t total) {
  const std::vector<int64_t> begins = dispatch::all_samples(offsets).to_vector<int64_t>();
  const auto bags = static_cast<size_t>(offsets.numel());
  int64_t longest = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const size_t i = k % bags;
    const int64_t begin = begins[k], end = i + 1 < bags ? begins[k + 1] : total;
    if (begin < 0 || begin > end || (i == 0 && begin != 0))
      throw IndexError(
          text("bag ", i, " of [", begin, ", ", end, "): offsets begin at 0, rise and end before ", total));
    longest = std::max(longest, end - begin);
  }
  return longest;
}

/// The offsets without the last one, which says where the last bag ends.
Tensor begins_of(const Tensor& offsets, int64_t total) {
  const std::vector<int64_t> ends = dispatch::all_samples(offsets).to_vector<int64_t>();
  const auto count = static_cast<size_t>(offsets.numel());
  bool fits = count > 0;
  for (size_t end = count; fits && end <= ends.size(); end += count) fits = ends[end - 1] == total;
  if (!fits) throw IndexError(text("the last offset must be ", total, ", where the last bag ends"));
  return slice(offsets, 0, 0, offsets.numel() - 1);
}

/// Bags one after the other as rows: each place names an index, or none.
Rows rows_of(const Tensor& indices, const Tensor& offsets, const Tensor& weights, bool last_is_end) {
  if (!is_integer(offsets.dtype()) || offsets.rank() != 1) throw ShapeError("offsets must be a row of integers");
  const int64_t total = indices.numel();
  const Tensor begins = (last_is_end ? begins_of(offsets, total) : offsets).to(i64);
  const int64_t bags = begins.numel(), longest = longest_bag(begins, total);
  if (total > 0 && bags * longest == total) {
    const Shape shape = {bags, longest};
    return {reshape(indices, shape), weights.defined() ? reshape(weights, shape) : weights, {}};
  }
  const Tensor ends = bags > 0 ? cat({slice(begins, 0, 1), full({1}, total, i64, begins.device())}) : begins;
  const Tensor places = unsqueeze(begins, 1) + arange(0, longest, 1, i64, begins.device());
  const Tensor counts = places < unsqueeze(ends, 1);
  const Tensor place = reshape(where(counts, places, 0), {-1});
  const auto taken = [&](const Tensor& x) {
    if (total == 0) return zeros({bags, longest}, x.dtype(), x.device());
    return reshape(index_select(x, 0, place), {bags, longest});
  };
  return {taken(indices), weights.defined() ? taken(weights) : weights, counts};
}

}  // namespace

EmbeddingBag::EmbeddingBag(const EmbeddingBagOptions& options)
    : EmbeddingBag(options, empty({checked(options).num_embeddings, options.embedding_dim}, options.dtype)) {
  init::normal(weight_);
  if (padding_idx_ >= 0) init::constant(weight_.detach()[padding_idx_], 0);
}

EmbeddingBag::EmbeddingBag(const EmbeddingBagOptions& options, const Tensor& weight) : options_(checked(options)) {
  ErrorFrame frame("EmbeddingBag");
  padding_idx_ = detail::padding_row(options.padding_idx, options.num_embeddings);
  weight_ = register_parameter("weight", weight);
  const char* mode = options.mode == Mode::sum ? "sum" : options.mode == Mode::mean ? "mean" : "max";
  detail::OptionList list;
  list.add(options.num_embeddings).add(options.embedding_dim).add("mode", mode);
  detail::list_rows(list, options.padding_idx, row_options(options));
  list.add_unless(false, "include_last_offset", options.include_last_offset);
  describe(list.line());
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& weight, bool freeze, EmbeddingBagOptions options) {
  ErrorFrame frame("EmbeddingBag::from_pretrained", weight);
  if (weight.rank() != 2) throw ShapeError("the weight must be (num_embeddings, embedding_dim)");
  options.num_embeddings = weight.size(0), options.embedding_dim = weight.size(1), options.dtype = weight.dtype();
  EmbeddingBag out(options, weight.detach());
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
  Rows rows = offsets.defined() ? rows_of(indices, offsets, per_sample_weights, options_.include_last_offset)
                                : Rows{indices, per_sample_weights, {}};
  Tensor vectors = detail::looked_up(rows.indices, indices, weight_, padding_idx_, row_options(options_));
  if (rows.weights.defined()) vectors = vectors * unsqueeze(rows.weights, 2);
  if (!rows.counts.defined() && padding_idx_ < 0 && rows.indices.size(1) > 0 && options_.mode != Mode::max)
    return options_.mode == Mode::sum ? sum(vectors, 1) : mean(vectors, 1);
  if (!rows.counts.defined()) rows.counts = ones(rows.indices.shape(), boolean, indices.device());
  if (padding_idx_ >= 0) rows.counts = logical_and(rows.counts, rows.indices != padding_idx_);
  const Tensor counts = unsqueeze(rows.counts, 2);
  if (options_.mode == Mode::max) {
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    if (rows.indices.size(1) == 0) return sum(vectors, 1);
    const Tensor best = max_with_indices(where(counts, vectors, full_like(vectors, kNothing)), 1).values;
    return where(any(counts, 1), best, zeros_like(best));
  }
  const Tensor total = sum(where(counts, vectors, zeros_like(vectors)), 1);
  if (options_.mode == Mode::sum) return total;
  return total / clip(cast(sum(counts, 1), total.dtype()), 1, std::nullopt);
}

}  // namespace weft::nn
