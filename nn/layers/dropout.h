// Dropout, channel dropout and alpha dropout. All are the identity in evaluation. They draw from the generator that
// Module::set_generator() sets.
#pragma once

#include "nn/module/layer.h"

namespace weft::nn {

/// In training, zeros each element with probability p and scales the others by 1 / (1 - p). Error unless 0 <= p <= 1.
class Dropout : public Layer<Dropout> {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) const;
  Dropout remake() const { return Dropout(p_); }

 private:
  double p_;
};

/// Base of the channel dropouts: in training, zeros whole channels of x (N, C, ...) or (C, ...) with probability p and
/// scales the others by 1 / (1 - p).
class ChannelDropout : public Module {
 protected:
  ChannelDropout(double p, const char* name, int64_t places);
  Tensor drop(const Tensor& x) const;
  double p() const { return p_; }

 private:
  double p_;
  const char* name_;
  int64_t places_;  // number of axes after the channels
};

/// Channel dropout on x (N, C, L) or (C, L).
class Dropout1d : public ChannelDropout {
 public:
  explicit Dropout1d(double p = 0.5) : ChannelDropout(p, "Dropout1d", 1) {}
  Tensor forward(const Tensor& x) const { return drop(x); }
  Dropout1d remake() const { return Dropout1d(p()); }
  Tensor operator()(const Tensor& x) const;
};

/// Channel dropout on x (N, C, H, W) or (C, H, W).
class Dropout2d : public ChannelDropout {
 public:
  explicit Dropout2d(double p = 0.5) : ChannelDropout(p, "Dropout2d", 2) {}
  Tensor forward(const Tensor& x) const { return drop(x); }
  Dropout2d remake() const { return Dropout2d(p()); }
  Tensor operator()(const Tensor& x) const;
};

/// Channel dropout on x (N, C, D, H, W) or (C, D, H, W).
class Dropout3d : public ChannelDropout {
 public:
  explicit Dropout3d(double p = 0.5) : ChannelDropout(p, "Dropout3d", 3) {}
  Tensor forward(const Tensor& x) const { return drop(x); }
  Dropout3d remake() const { return Dropout3d(p()); }
  Tensor operator()(const Tensor& x) const;
};

/// In training, sets each element with probability p to the limit of SELU at -inf, then applies an affine map so that
/// inputs of mean 0 and variance 1 keep both (Klambauer et al., arXiv 1706.02515).
class AlphaDropout : public Layer<AlphaDropout> {
 public:
  explicit AlphaDropout(double p = 0.5);
  Tensor forward(const Tensor& x) const;
  AlphaDropout remake() const { return AlphaDropout(p_); }

 private:
  double p_;
};

/// Alpha dropout of whole channels of x (N, C, ...).
class FeatureAlphaDropout : public Layer<FeatureAlphaDropout> {
 public:
  explicit FeatureAlphaDropout(double p = 0.5);
  Tensor forward(const Tensor& x) const;
  FeatureAlphaDropout remake() const { return FeatureAlphaDropout(p_); }

 private:
  double p_;
};

}  // namespace weft::nn
