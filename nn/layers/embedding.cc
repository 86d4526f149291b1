#include "nn/layers/embedding.h"

#include "nn/init.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"

namespace weft::nn {

Embedding::Embedding(const EmbeddingOptions& options) : options_(options) {
  Frame frame("Embedding");
  const int64_t rows = options.num_embeddings;
  detail::check_positive("num_embeddings", rows);
  detail::check_positive("embedding_dim", options.embedding_dim);
  weight_ = register_parameter("weight", empty({rows, options.embedding_dim}, options.dtype));
  init::normal(weight_);
  const auto padding = [&] { return options.padding_idx ? text(", padding_idx=", *options.padding_idx) : ""; };
  describe(text(rows, ", ", options.embedding_dim, padding()));
  if (!options.padding_idx) return;
  const int64_t given = *options.padding_idx;
  padding_idx_ = given < 0 ? given + rows : given;
  if (padding_idx_ < 0 || padding_idx_ >= rows)
    throw IndexError(text("padding_idx ", given, " is out of range for ", rows, " rows"));
  init::constant(weight_.detach()[padding_idx_], 0);
}

Tensor Embedding::forward(const Tensor& indices) const { return embedding(indices, weight_, padding_idx_); }

}  // namespace weft::nn
