#include "nn/layers/pool.h"

#include "nn/layers/options.h"

namespace weft::nn {

template <class Self, class Sizes>
PoolLayer<Self, Sizes>::PoolLayer(const char* name, const PoolOptionsOf<Sizes>& o) : options_(o) {
  Frame frame(name);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.step());
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (o.padding[i] > o.kernel_size[i] / 2) throw ShapeError("padding must be at most half of kernel_size");
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

#define WEFT_ADAPTIVE_POOL_LAYER(Name, Sizes)   \
  Name::Name(const Sizes& size) : size_(size) { \
    Frame frame(#Name);                         \
    detail::check_positive("size", size);       \
  }
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool1d, Single)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool2d, Pair)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveAvgPool3d, Triple)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool1d, Single)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool2d, Pair)
WEFT_ADAPTIVE_POOL_LAYER(AdaptiveMaxPool3d, Triple)
#undef WEFT_ADAPTIVE_POOL_LAYER

}  // namespace weft::nn
