#include "nn/layers/dropout.h"

#include "nn/layers/options.h"
#include "tensor/adjoints/dropout.h"
#include "tensor/functions/dropout.h"

namespace weft::nn {
namespace {

double checked(double p, const char* name) {
  ErrorFrame frame(name);
  detail::check_probability("p", p);
  return p;
}

}  // namespace

Dropout::Dropout(double p) : p_(checked(p, "Dropout")) {
  describe(text("p=", p));
  mark_as_mode_dependent();
}

Tensor Dropout::forward(const Tensor& x) const { return is_training() && p_ > 0 ? dropout(x, p_, generator()) : x; }

ChannelDropout::ChannelDropout(double p, const char* name, int64_t places)
    : p_(checked(p, name)), name_(name), places_(places) {
  describe(text("p=", p));
  mark_as_mode_dependent();
}

Tensor ChannelDropout::drop(const Tensor& x) const {
  ErrorFrame frame(name_, x);
  return internal::channel_dropout(x, places_, is_training() ? p_ : 0, generator());
}

AlphaDropout::AlphaDropout(double p) : p_(checked(p, "AlphaDropout")) {
  describe(text("p=", p));
  mark_as_mode_dependent();
}

Tensor AlphaDropout::forward(const Tensor& x) const { return is_training() ? alpha_dropout(x, p_, generator()) : x; }

FeatureAlphaDropout::FeatureAlphaDropout(double p) : p_(checked(p, "FeatureAlphaDropout")) {
  describe(text("p=", p));
  mark_as_mode_dependent();
}

Tensor FeatureAlphaDropout::forward(const Tensor& x) const {
  ErrorFrame frame("FeatureAlphaDropout", x);
  return feature_alpha_dropout(x, is_training() ? p_ : 0, generator());
}

Tensor Dropout1d::operator()(const Tensor& x) const { return run_layer(*this, x); }

Tensor Dropout2d::operator()(const Tensor& x) const { return run_layer(*this, x); }

Tensor Dropout3d::operator()(const Tensor& x) const { return run_layer(*this, x); }

}  // namespace weft::nn
