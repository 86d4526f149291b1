#include "nn/layers/pool.h"

#include "nn/layers/options.h"

namespace weft::nn {
namespace {

Pool2dOptions checked(const char* layer, const Pool2dOptions& o) {
  Frame frame(layer);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.stride.value_or(o.kernel_size));
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  if (o.padding.height > o.kernel_size.height / 2 || o.padding.width > o.kernel_size.width / 2)
    throw ShapeError("padding must be at most half of kernel_size");
  return o;
}

}  // namespace

MaxPool2d::MaxPool2d(const Pool2dOptions& options) : options_(checked("MaxPool2d", options)) {}

AvgPool2d::AvgPool2d(const Pool2dOptions& options) : options_(checked("AvgPool2d", options)) {}

}  // namespace weft::nn
