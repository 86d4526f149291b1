// Embedding: a lookup table of vectors, indexed by integers.
#pragma once

#include <optional>

#include "nn/layers/options.h"
#include "nn/module/layer.h"

namespace weft::nn {

struct EmbeddingOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  /// This row is initialized to zero and gets no gradient. A negative index counts from the end.
  std::optional<int64_t> padding_idx = std::nullopt;
  /// When a row is looked up and its norm is larger than this, the weight's row is rescaled in place to this norm.
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;  // the order p of that norm
  /// Divides the gradient of a row by the number of times it is looked up in the batch.
  bool scale_grad_by_freq = false;
  DType dtype = f32;
};

/// Indices (...) of an integer dtype -> vectors (..., embedding_dim). weight is (num_embeddings, embedding_dim),
/// initialized from normal(0, 1) as in PyTorch. The constructor throws a ShapeError if a size is missing, an IndexError
/// if padding_idx is out of range, an Error for max_norm < 0 or norm_type <= 0. A call throws a DtypeError unless the
/// indices are integers and an IndexError unless they are in [0, num_embeddings).
class Embedding : public Layer<Embedding> {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options = {})
      : Embedding(detail::positional(options, &EmbeddingOptions::num_embeddings, num_embeddings,
                                     &EmbeddingOptions::embedding_dim, embedding_dim)) {}
  /// An embedding that shares the memory of `weight` (num_embeddings, embedding_dim). The sizes and dtype in `options`
  /// are taken from `weight`, whose values are not changed (no row is zeroed). With `freeze`, the weight is not
  /// trained. Without it, a `weight` that is a parameter already, as of another layer, becomes this layer's own: one
  /// parameter with one gradient (tied weights). ShapeError unless `weight` has two axes.
  static Embedding from_pretrained(const Tensor& weight, bool freeze = true, EmbeddingOptions options = {});
  Tensor forward(const Tensor& indices) const;
  Embedding remake() const { return Embedding(options_); }

  Tensor weight() const { return weight_; }

 private:
  Embedding(const EmbeddingOptions& options, const Tensor& weight);
  EmbeddingOptions options_;
  int64_t padding_idx_ = -1;
  Tensor weight_;
};

}  // namespace weft::nn
