#include "nn/layers/pool.h"

#include "nn/layers/option_list.h"
#include "nn/layers/options.h"

namespace weft::nn {
namespace {

template <class Sizes> std::string described(const std::string& first, const PoolOptionsOf<Sizes>& o) {
  detail::OptionList out;
  if (!first.empty()) out.add(first);
  out.add("kernel_size", o.kernel_size).add("stride", o.step()).add("padding", o.padding);
  out.add_unless(1, "dilation", o.dilation).add_unless(false, "ceil_mode", o.ceil_mode);
  out.add_unless(true, "count_include_pad", o.count_include_pad);
  if (o.divisor_override) out.add("divisor_override", *o.divisor_override);
  return out.line();
}

}  // namespace

template <class Self, class Sizes>
PoolLayer<Self, Sizes>::PoolLayer(const char* name, const PoolOptionsOf<Sizes>& o, const std::string& shown)
    : options_(o) {
  Frame frame(name);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.step());
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (o.padding[i] > o.kernel_size[i] / 2) throw ShapeError("padding must be at most half of kernel_size");
  this->describe(described(shown, o));
}

template class PoolLayer<MaxPool1d, Single>;
template class PoolLayer<MaxPool2d, Pair>;
template class PoolLayer<MaxPool3d, Triple>;
template class PoolLayer<AvgPool1d, Single>;
template class PoolLayer<AvgPool2d, Pair>;
template class PoolLayer<AvgPool3d, Triple>;
template class PoolLayer<LPPool1d, Single>;
template class PoolLayer<LPPool2d, Pair>;
template class PoolLayer<LPPool3d, Triple>;

#define WEFT_ADAPTIVE_POOL_LAYER(Name, Sizes)       \
  Name::Name(const Sizes& size) : size_(size) {     \
    Frame frame(#Name);                             \
    detail::check_positive("size", size);           \
    describe("output_size=" + detail::shown(size)); \
  }
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool1d, Single)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool2d, Pair)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool3d, Triple)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool1d, Single)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool2d, Pair)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool3d, Triple)
#undef WEFT_ADAPTIVE_POOL_LAYER

}  // namespace weft::nn
