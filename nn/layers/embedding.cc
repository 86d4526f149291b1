#include "nn/layers/embedding.h"

#include "nn/layers/embedding_rows.h"

namespace weft::nn {

Embedding::Embedding(const EmbeddingOptions& options) : Embedding(options, detail::normal_rows("Embedding", options)) {}

Embedding::Embedding(const EmbeddingOptions& options, const Tensor& weight)
    : options_(detail::checked_rows("Embedding", options)) {
  ErrorFrame frame("Embedding");
  padding_idx_ = detail::padding_row(options.padding_idx, options.num_embeddings);
  weight_ = register_parameter("weight", weight);
  detail::OptionList list;
  list.add(options.num_embeddings).add(options.embedding_dim);
  detail::list_rows(list, options.padding_idx, detail::row_options(options));
  describe(list.line());
}

Embedding Embedding::from_pretrained(const Tensor& weight, bool freeze, EmbeddingOptions options) {
  ErrorFrame frame("Embedding::from_pretrained", weight);
  Embedding out(options, detail::pretrained_rows(weight, freeze, options));
  if (freeze) out.requires_grad_(false);
  return out;
}

Tensor Embedding::forward(const Tensor& indices) const {
  return detail::looked_up(indices, weight_, padding_idx_, detail::row_options(options_));
}

}  // namespace weft::nn
