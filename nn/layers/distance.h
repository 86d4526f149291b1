// pairwise_distance and cosine_similarity as layers.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/distance.h"

namespace weft::nn {

struct PairwiseDistanceOptions {
  double p = 2.0;     // the order of the norm
  double eps = 1e-6;  // added to the differences
  bool keepdim = false;
};
struct CosineSimilarityOptions {
  int64_t axis = 1;
  double eps = 1e-8;  // lower bound of the norms
};

class PairwiseDistance : public Layer<PairwiseDistance> {
 public:
  explicit PairwiseDistance(const PairwiseDistanceOptions& options = {}) : options_(options) {
    describe(text("p=", options.p, ", eps=", options.eps, options.keepdim ? ", keepdim=true" : ""));
  }
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return pairwise_distance(a, b, options_.p, options_.eps, options_.keepdim);
  }
  PairwiseDistance remake() const { return PairwiseDistance(options_); }

 private:
  PairwiseDistanceOptions options_;
};

class CosineSimilarity : public Layer<CosineSimilarity> {
 public:
  explicit CosineSimilarity(const CosineSimilarityOptions& options = {}) : options_(options) {
    describe(text("axis=", options.axis, ", eps=", options.eps));
  }
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return cosine_similarity(a, b, options_.axis, options_.eps);
  }
  CosineSimilarity remake() const { return CosineSimilarity(options_); }

 private:
  CosineSimilarityOptions options_;
};

}  // namespace weft::nn
