#include "nn/layers/embedding.h"

#include "nn/init.h"
#include "nn/layers/embedding_rows.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"

namespace weft::nn {
namespace {

detail::RowOptions row_options(const EmbeddingOptions& o) { return {o.max_norm, o.norm_type, o.scale_grad_by_freq}; }

const EmbeddingOptions& checked(const EmbeddingOptions& o) {
  ErrorFrame frame("Embedding");
  detail::check_positive("num_embeddings", o.num_embeddings);
  detail::check_positive("embedding_dim", o.embedding_dim);
  detail::check_rows(row_options(o));
  return o;
}

}  // namespace

Embedding::Embedding(const EmbeddingOptions& options)
    : Embedding(options, detail::empty_rows("Embedding", checked(options))) {
  init::normal(weight_);
  if (padding_idx_ >= 0) init::constant(weight_.detach()[padding_idx_], 0);
}

Embedding::Embedding(const EmbeddingOptions& options, const Tensor& weight) : options_(checked(options)) {
  ErrorFrame frame("Embedding");
  padding_idx_ = detail::padding_row(options.padding_idx, options.num_embeddings);
  weight_ = register_parameter("weight", weight);
  detail::OptionList list;
  list.add(options.num_embeddings).add(options.embedding_dim);
  detail::list_rows(list, options.padding_idx, row_options(options));
  describe(list.line());
}

Embedding Embedding::from_pretrained(const Tensor& weight, bool freeze, EmbeddingOptions options) {
  ErrorFrame frame("Embedding::from_pretrained", weight);
  const Tensor rows = detail::pretrained_rows(weight, freeze);
  options.num_embeddings = weight.size(0), options.embedding_dim = weight.size(1), options.dtype = weight.dtype();
  Embedding out(options, rows);
  if (freeze) out.requires_grad_(false);
  return out;
}

Tensor Embedding::forward(const Tensor& indices) const {
  return detail::looked_up(indices, weight_, padding_idx_, row_options(options_));
}

}  // namespace weft::nn
