// Embedding: a table of vectors, looked up by index.
#pragma once

#include <optional>

#include "nn/module/layer.h"

namespace weft::nn {

struct EmbeddingOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  /// Its row starts at zero and gets no gradient; negative: from the end.
  std::optional<int64_t> padding_idx = std::nullopt;
  DType dtype = f32;
};

/// Indices of any shape to vectors: (...) to (..., embedding_dim). weight is (num_embeddings, embedding_dim) and starts
/// normal(0, 1), as in PyTorch.
class Embedding : public Layer<Embedding> {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(int64_t num_embeddings, int64_t embedding_dim)
      : Embedding(EmbeddingOptions{.num_embeddings = num_embeddings, .embedding_dim = embedding_dim}) {}
  Tensor forward(const Tensor& indices) const;
  Embedding remake() const { return Embedding(options_); }

  Tensor weight() const { return weight_; }

 private:
  EmbeddingOptions options_;
  int64_t padding_idx_ = -1;
  Tensor weight_;
};

}  // namespace weft::nn
