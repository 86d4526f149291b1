#include "nn/layers/dropout.h"

#include <cmath>

#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"

namespace weft::nn {

Dropout::Dropout(double p) : p_(p) {
  ErrorFrame frame("Dropout");
  detail::check_probability("p", p);
  describe(text("p=", p));
}

Tensor Dropout::forward(const Tensor& x) const { return is_training() && p_ > 0 ? dropout(x, p_, generator()) : x; }

namespace {

double checked(double p, const char* name) {
  ErrorFrame frame(name);
  detail::check_probability("p", p);
  return p;
}

/// Ones of `axes` axes like x's first ones, and of size 1 behind them.
Tensor ones_of(const Tensor& x, int64_t axes) {
  Shape shape = x.shape();
  for (int64_t i = axes; i < x.rank(); ++i) shape[static_cast<size_t>(i)] = 1;
  return ones(shape, x.dtype(), x.device());
}

/// x where `kept` is 1 and SELU's lowest value where it is 0, with mean and variance as before.
Tensor alpha_drop(const Tensor& x, const Tensor& kept, double p) {
  constexpr double kAlpha = 1.7580993408473766;  // 1.0507 1.6733, the constants of SELU
  if (p == 1) return x * 0.0;
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  return x * (kept * scale) + ((kept - 1.0) * (kAlpha * scale) + kAlpha * scale * p);
}

}  // namespace

ChannelDropout::ChannelDropout(double p, const char* name, int64_t places)
    : p_(checked(p, name)), name_(name), places_(places) {
  describe(text("p=", p));
}

Tensor ChannelDropout::drop(const Tensor& x) const {
  ErrorFrame frame(name_, x);
  if (x.rank() != places_ + 1 && x.rank() != places_ + 2)
    throw ShapeError(text("the input must have ", places_ + 2, " axes, (N, C, ...), or ", places_ + 1, " without N"));
  return is_training() && p_ > 0 ? x * dropout(ones_of(x, x.rank() - places_), p_, generator()) : x;
}

AlphaDropout::AlphaDropout(double p) : p_(checked(p, "AlphaDropout")) { describe(text("p=", p)); }

Tensor AlphaDropout::forward(const Tensor& x) const {
  if (!is_training() || p_ == 0) return x;
  return alpha_drop(x, dropout(ones_like(x), p_, generator()) * (1 - p_), p_);
}

FeatureAlphaDropout::FeatureAlphaDropout(double p) : p_(checked(p, "FeatureAlphaDropout")) { describe(text("p=", p)); }

Tensor FeatureAlphaDropout::forward(const Tensor& x) const {
  ErrorFrame frame("FeatureAlphaDropout", x);
  if (x.rank() < 2) throw ShapeError("the input must be (N, C, ...)");
  if (!is_training() || p_ == 0) return x;
  return alpha_drop(x, dropout(ones_of(x, 2), p_, generator()) * (1 - p_), p_);
}

}  // namespace weft::nn
