// EmbeddingBag: sums, means or maxima of bags of vectors of a table.
#pragma once

#include <optional>

#include "nn/module/layer.h"

namespace weft::nn {

struct EmbeddingBagOptions {
  enum class Mode { sum, mean, max };
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  Mode mode = Mode::mean;
  std::optional<int64_t> padding_idx = std::nullopt;  // is in no bag; negative: from the end
  std::optional<double> max_norm = std::nullopt;  // a row that is longer is scaled to it, in the weight, when looked up
  double norm_type = 2;                           // the p of that norm
  bool scale_grad_by_freq = false;                // the gradient of a row is divided by how often it is looked up
  bool include_last_offset = false;               // the last offset is where the last bag ends
  DType dtype = f32;
};

/// indices (N, L), each row a bag, or the indices of all bags one after the other with `offsets`, where each begins:
/// (N, embedding_dim). An empty bag is zero. weight is (num_embeddings, embedding_dim) and starts normal(0, 1), as in
/// PyTorch.
class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  using Mode = EmbeddingBagOptions::Mode;
  explicit EmbeddingBag(const EmbeddingBagOptions& options);
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBag(EmbeddingBagOptions{.num_embeddings = num_embeddings, .embedding_dim = embedding_dim}) {}
  /// See Embedding::from_pretrained().
  static EmbeddingBag from_pretrained(const Tensor& weight, bool freeze = true, EmbeddingBagOptions options = {});
  /// per_sample_weights, of indices' shape, are factors of the vectors; with Mode::sum only. IndexError for an index
  /// that is out of range, offsets that do not begin at 0 or fall.
  Tensor forward(const Tensor& indices, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}) const;
  EmbeddingBag remake() const { return EmbeddingBag(options_); }
  using Layer<EmbeddingBag>::operator();
  Tensor operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {}) const {
    const auto call = [&](const Tensor& a, const Tensor& b, const Tensor& c) { return forward(a, b, c); };
    return in_layer(*this, call, indices, offsets, per_sample_weights);
  }

  Tensor weight() const { return weight_; }

 private:
  EmbeddingBag(const EmbeddingBagOptions& options, const Tensor& weight);
  Tensor with_scaled_gradient(const Tensor& indices) const;
  EmbeddingBagOptions options_;
  int64_t padding_idx_ = -1;
  Tensor weight_;
};

}  // namespace weft::nn
