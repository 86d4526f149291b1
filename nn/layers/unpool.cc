#include "nn/layers/unpool.h"

#include "nn/layers/option_list.h"
#include "nn/layers/options.h"

namespace weft::nn {
namespace {

template <class Sizes> const PoolOptionsOf<Sizes>& checked(const char* layer, const PoolOptionsOf<Sizes>& o) {
  ErrorFrame frame(layer);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.step());
  detail::check_not_negative("padding", o.padding);
  return o;
}

}  // namespace

#define WEFT_UNPOOL_LAYER(Name, Options)                                                      \
  Name::Name(const Options& o) : options_(checked(#Name, o)) {                                \
    detail::OptionList list;                                                                  \
    list.add("kernel_size", o.kernel_size).add("stride", o.step()).add("padding", o.padding); \
    describe(list.line());                                                                    \
  }
WEFT_UNPOOL_LAYER(MaxUnpool1d, Pool1dOptions)
WEFT_UNPOOL_LAYER(MaxUnpool2d, Pool2dOptions)
WEFT_UNPOOL_LAYER(MaxUnpool3d, Pool3dOptions)
#undef WEFT_UNPOOL_LAYER

}  // namespace weft::nn
