// Pooling layers.
#pragma once

#include <array>
#include <optional>

#include "nn/layers/options.h"
#include "nn/module/layer.h"
#include "tensor/functions/adaptive_pool.h"
#include "tensor/functions/fractional_pool.h"
#include "tensor/functions/pool.h"

namespace weft::nn {

/// Base of the pooling layers. The constructor checks kernel_size, stride, padding and dilation: ShapeError if
/// kernel_size is missing or one of them is out of range. The first call checks the rest: Error for an option that the
/// function does not take (dilation of an average, divisor_override of a maximum, padding of an LP pool), for
/// divisor_override = 0, and unless p > 0.
template <class Self, class Sizes> class PoolLayer : public Layer<Self> {
 public:
  const PoolOptionsOf<Sizes>& options() const { return options_; }

 protected:
  /// `shown` is printed before the options.
  PoolLayer(const char* name, const PoolOptionsOf<Sizes>& options, const std::string& shown = {});

 private:
  PoolOptionsOf<Sizes> options_;
};

/// Defines a pooling layer over `Sizes` spatial axes; Name(3, 2) is Name(3, {.stride = 2}) or Name({.kernel_size = 3,
/// .stride = 2}). One number per axis in braces does not compile, as these would be the first options: write
/// {.kernel_size = {3, 1}}.
#define WEFT_POOL_LAYER(Name, function, Sizes)                                                               \
  class Name : public PoolLayer<Name, Sizes> {                                                               \
   public:                                                                                                   \
    explicit Name(const PoolOptionsOf<Sizes>& options) : PoolLayer(#Name, options) {}                        \
    explicit Name(int64_t kernel_size, const PoolOptionsOf<Sizes>& options = {})                             \
        : Name(detail::positional(options, &PoolOptionsOf<Sizes>::kernel_size, kernel_size)) {}              \
    Name(int64_t kernel_size, int64_t stride) : Name(kernel_size, PoolOptionsOf<Sizes>{.stride = stride}) {} \
    explicit Name(const Sizes&) = delete;                                                                    \
    Tensor forward(const Tensor& x) const { return function(x, options()); }                                 \
    Name remake() const { return Name(options()); }                                                          \
  }

/// See max_pool1d().
WEFT_POOL_LAYER(MaxPool1d, max_pool1d, Size1);
/// See max_pool2d().
WEFT_POOL_LAYER(MaxPool2d, max_pool2d, Size2);
/// See max_pool3d().
WEFT_POOL_LAYER(MaxPool3d, max_pool3d, Size3);
/// See avg_pool1d().
WEFT_POOL_LAYER(AvgPool1d, avg_pool1d, Size1);
/// See avg_pool2d().
WEFT_POOL_LAYER(AvgPool2d, avg_pool2d, Size2);
/// See avg_pool3d().
WEFT_POOL_LAYER(AvgPool3d, avg_pool3d, Size3);
#undef WEFT_POOL_LAYER

/// Defines a layer that takes the p-norm of each window: LPPool2d(2, {.kernel_size = 3}).
#define WEFT_NORM_POOL_LAYER(Name, function, Sizes)                                                                  \
  class Name : public PoolLayer<Name, Sizes> {                                                                       \
   public:                                                                                                           \
    Name(double p, const PoolOptionsOf<Sizes>& options) : PoolLayer(#Name, options, text("norm_type=", p)), p_(p) {} \
    Name(double p, int64_t kernel_size, const PoolOptionsOf<Sizes>& options = {})                                    \
        : Name(p, detail::positional(options, &PoolOptionsOf<Sizes>::kernel_size, kernel_size)) {}                   \
    Name(double p, const Sizes&) = delete;                                                                           \
    Tensor forward(const Tensor& x) const { return function(x, p_, options()); }                                     \
    Name remake() const { return Name(p_, options()); }                                                              \
                                                                                                                     \
   private:                                                                                                          \
    double p_;                                                                                                       \
  }

/// See lp_pool1d().
WEFT_NORM_POOL_LAYER(LPPool1d, lp_pool1d, Size1);
/// See lp_pool2d().
WEFT_NORM_POOL_LAYER(LPPool2d, lp_pool2d, Size2);
/// See lp_pool3d().
WEFT_NORM_POOL_LAYER(LPPool3d, lp_pool3d, Size3);
#undef WEFT_NORM_POOL_LAYER

/// Base of the adaptive pooling layers, which pool to a given output size. An axis whose size is nullopt keeps its
/// size.
template <class Self, class Sizes> class AdaptivePoolLayer : public Layer<Self> {
 public:
  using OptionalSizes = std::array<std::optional<int64_t>, Sizes::kAxes>;

 protected:
  AdaptivePoolLayer(const char* name, const OptionalSizes& size);
  AdaptivePoolLayer(const char* name, const Sizes& size);
  /// The output size for this input.
  Sizes size_for(const Tensor& x) const;
  const OptionalSizes& size() const { return size_; }

 private:
  OptionalSizes size_;
};

/// Defines a layer that pools to a given output size: one number, or one per axis, where std::nullopt keeps the axis's
/// size: AdaptiveAvgPool2d({std::nullopt, 5}). (The constructor is a template so that {3, 5} still matches Sizes:
/// non-template overloads are preferred.)
#define WEFT_ADAPTIVE_POOL_LAYER(Name, function, Sizes)                                                  \
  class Name : public AdaptivePoolLayer<Name, Sizes> {                                                   \
   public:                                                                                               \
    explicit Name(const Sizes& size) : AdaptivePoolLayer(#Name, size) {}                                 \
    explicit Name(int64_t size) : Name(Sizes(size)) {}                                                   \
    template <class = void> explicit Name(const OptionalSizes& size) : AdaptivePoolLayer(#Name, size) {} \
    Tensor forward(const Tensor& x) const { return function(x, size_for(x)); }                           \
    Name remake() const { return Name(size()); }                                                         \
  }

/// See adaptive_avg_pool1d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool1d, adaptive_avg_pool1d, Size1);
/// See adaptive_avg_pool2d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool2d, adaptive_avg_pool2d, Size2);
/// See adaptive_avg_pool3d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool3d, adaptive_avg_pool3d, Size3);
/// See adaptive_max_pool1d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool1d, adaptive_max_pool1d, Size1);
/// See adaptive_max_pool2d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool2d, adaptive_max_pool2d, Size2);
/// See adaptive_max_pool3d().
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool3d, adaptive_max_pool3d, Size3);
#undef WEFT_ADAPTIVE_POOL_LAYER

/// Base of the fractional max pools, whose windows are at random positions, in evaluation too. The positions are drawn
/// from the generator that Module::set_generator() sets. Error unless exactly one of output_size and output_ratio is
/// given, and unless there is one ratio, or one per axis, in (0, 1).
template <class Self, class Sizes> class FractionalPoolLayer : public Layer<Self> {
 protected:
  FractionalPoolLayer(const char* name, const FractionalPoolOptionsOf<Sizes>& options);
  const FractionalPoolOptionsOf<Sizes>& options() const { return options_; }

 private:
  FractionalPoolOptionsOf<Sizes> options_;
};

/// See fractional_max_pool2d().
class FractionalMaxPool2d : public FractionalPoolLayer<FractionalMaxPool2d, Size2> {
 public:
  explicit FractionalMaxPool2d(const FractionalMaxPool2dOptions& options)
      : FractionalPoolLayer("FractionalMaxPool2d", options) {}
  Tensor forward(const Tensor& x) const { return fractional_max_pool2d(x, options(), {}, generator()); }
  FractionalMaxPool2d remake() const { return FractionalMaxPool2d(options()); }
};

/// See fractional_max_pool3d().
class FractionalMaxPool3d : public FractionalPoolLayer<FractionalMaxPool3d, Size3> {
 public:
  explicit FractionalMaxPool3d(const FractionalMaxPool3dOptions& options)
      : FractionalPoolLayer("FractionalMaxPool3d", options) {}
  Tensor forward(const Tensor& x) const { return fractional_max_pool3d(x, options(), {}, generator()); }
  FractionalMaxPool3d remake() const { return FractionalMaxPool3d(options()); }
};

}  // namespace weft::nn
