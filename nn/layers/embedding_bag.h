// EmbeddingBag: the sum, mean or maximum of each bag of embedding vectors.
#pragma once

#include <optional>

#include "nn/layers/options.h"
#include "nn/module/layer.h"

namespace weft::nn {

struct EmbeddingBagOptions {
  enum class Mode { sum, mean, max };
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  Mode mode = Mode::mean;
  /// This index is left out of every bag. A negative index counts from the end.
  std::optional<int64_t> padding_idx = std::nullopt;
  /// When a row is looked up and its norm is larger than this, the weight's row is rescaled in place to this norm.
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;  // the order p of that norm
  /// Divides the gradient of a row by the number of times it is looked up in the batch.
  bool scale_grad_by_freq = false;
  bool include_last_offset = false;  // the last offset is the end of the last bag
  DType dtype = f32;
};

/// Returns (N, embedding_dim), one vector per bag. Either indices is (N, L) and each row is a bag, or indices is 1-d
/// and bag i starts at offsets[i]. An empty bag gives zeros. weight is (num_embeddings, embedding_dim), initialized
/// from normal(0, 1) as in PyTorch.
class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  using Mode = EmbeddingBagOptions::Mode;
  explicit EmbeddingBag(const EmbeddingBagOptions& options);
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingBagOptions& options = {})
      : EmbeddingBag(detail::positional(options, &EmbeddingBagOptions::num_embeddings, num_embeddings,
                                        &EmbeddingBagOptions::embedding_dim, embedding_dim)) {}
  /// See Embedding::from_pretrained().
  static EmbeddingBag from_pretrained(const Tensor& weight, bool freeze = true, EmbeddingBagOptions options = {});
  /// per_sample_weights has the shape of indices and multiplies the vectors; Mode::sum only. IndexError for an index
  /// out of range, for offsets that do not start at 0, or for offsets that decrease.
  Tensor forward(const Tensor& indices, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}) const;
  EmbeddingBag remake() const { return EmbeddingBag(options_); }
  using Layer<EmbeddingBag>::operator();
  Tensor operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {}) const;

  Tensor weight() const { return weight_; }

 private:
  EmbeddingBag(const EmbeddingBagOptions& options, const Tensor& weight);
  Tensor with_scaled_gradient(const Tensor& indices) const;
  EmbeddingBagOptions options_;
  int64_t padding_idx_ = -1;
  Tensor weight_;
};

}  // namespace weft::nn
