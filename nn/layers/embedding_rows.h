// Helpers of Embedding and EmbeddingBag; internal to nn/.
#pragma once

#include <optional>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"
#include "tensor/tensor.h"

namespace weft::nn::detail {

/// Options of a row lookup.
struct RowOptions {
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
};

/// The row `padding_idx`; a negative value counts from the end. -1 if absent. IndexError if out of range.
int64_t padding_row(std::optional<int64_t> padding_idx, int64_t rows);

/// Error if an option is out of range.
void check_rows(const RowOptions& options);

template <class Options> RowOptions row_options(const Options& o) {
  return {o.max_norm, o.norm_type, o.scale_grad_by_freq};
}

/// `options` of a layer of class `name`, which errors name. Error if one is missing or out of range.
template <class Options> const Options& checked_rows(const char* name, const Options& options) {
  ErrorFrame frame(name);
  check_positive("num_embeddings", options.num_embeddings);
  check_positive("embedding_dim", options.embedding_dim);
  check_rows(row_options(options));
  return options;
}

/// The initial weight (num_embeddings, embedding_dim) of a layer of class `name`: normal(0, 1), the padding row zero.
template <class Options> Tensor normal_rows(const char* name, const Options& options) {
  const int64_t rows = checked_rows(name, options).num_embeddings;
  ErrorFrame frame(name);
  Tensor weight = empty({rows, options.embedding_dim}, options.dtype);
  const int64_t padding = padding_row(options.padding_idx, rows);
  init::normal(weight);
  if (padding >= 0) init::constant(weight[padding], 0);
  return weight;
}

/// The weight of a layer made from a table: `weight` itself if it is a leaf that shall be trained further, so that the
/// layers share one parameter, else a tensor on its memory. Sets the sizes and the dtype of `options`. ShapeError
/// unless `weight` has two axes.
template <class Options> Tensor pretrained_rows(const Tensor& weight, bool freeze, Options& options) {
  if (weight.rank() != 2) throw ShapeError("the weight must be (num_embeddings, embedding_dim)");
  options.num_embeddings = weight.size(0), options.embedding_dim = weight.size(1), options.dtype = weight.dtype();
  return !freeze && weight.requires_grad() && weight.is_leaf() ? weight : weight.detach();
}

/// Adds the options that differ from their defaults to `list`.
void list_rows(OptionList& list, std::optional<int64_t> padding_idx, const RowOptions& options);

/// Rescales, in place, the looked-up rows of `weight` whose norm is larger than max_norm to that norm.
void shorten_rows(const Tensor& indices, const Tensor& weight, const RowOptions& options);

/// The number of times each row is looked up: (rows).
Tensor row_counts(const Tensor& indices, const Tensor& weight);

/// Whether x may need a gradient, including from code outside of vmap.
bool needs_gradient(const Tensor& x);

/// Returns x with its gradient multiplied by `scale`, in x's dtype: under Autocast, rows have 16 bits and `scale` has
/// the weight's dtype. If either is a vmap sample, this is composed of ops, so that gradients taken outside of vmap see
/// it too; otherwise it is a hook, which costs nothing in forward.
Tensor with_gradient_times(Tensor x, const Tensor& scale);

/// embedding(indices, weight, padding) after rows are limited to max_norm. With scale_grad_by_freq, the gradient of
/// each row is divided by its number of lookups.
Tensor looked_up(const Tensor& indices, const Tensor& weight, int64_t padding, const RowOptions& options);

}  // namespace weft::nn::detail
