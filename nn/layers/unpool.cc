#include "nn/layers/unpool.h"

#include "nn/layers/options.h"

namespace weft::nn {
namespace {

template <class Sizes> const PoolOptionsOf<Sizes>& checked(const char* layer, const PoolOptionsOf<Sizes>& o) {
  Frame frame(layer);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.step());
  detail::check_not_negative("padding", o.padding);
  return o;
}

}  // namespace

MaxUnpool1d::MaxUnpool1d(const Pool1dOptions& options) : options_(checked("MaxUnpool1d", options)) {}
MaxUnpool2d::MaxUnpool2d(const Pool2dOptions& options) : options_(checked("MaxUnpool2d", options)) {}
MaxUnpool3d::MaxUnpool3d(const Pool3dOptions& options) : options_(checked("MaxUnpool3d", options)) {}

}  // namespace weft::nn
