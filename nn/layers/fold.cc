#include "nn/layers/fold.h"

#include "nn/layers/option_list.h"
#include "nn/layers/options.h"

namespace weft::nn {
namespace {

const FoldOptions& checked(const FoldOptions& o) {
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("dilation", o.dilation);
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("stride", o.stride);
  return o;
}

detail::OptionList& add(detail::OptionList& list, const FoldOptions& o) {
  list.add("kernel_size", o.kernel_size).add("dilation", o.dilation);
  return list.add("padding", o.padding).add("stride", o.stride);
}

}  // namespace

Unfold::Unfold(const FoldOptions& options) {
  ErrorFrame frame("Unfold");
  options_ = checked(options);
  detail::OptionList list;
  describe(add(list, options).line());
}

Fold::Fold(const Size2& size, const FoldOptions& options) : size_(size) {
  ErrorFrame frame("Fold");
  detail::check_positive("size", size);
  options_ = checked(options);
  detail::OptionList list;
  describe(add(list.add("output_size", size), options).line());
}

PixelShuffle::PixelShuffle(int64_t upscale_factor) : factor_(upscale_factor) {
  ErrorFrame frame("PixelShuffle");
  detail::check_positive("upscale_factor", factor_);
  describe(text("upscale_factor=", factor_));
}

PixelUnshuffle::PixelUnshuffle(int64_t downscale_factor) : factor_(downscale_factor) {
  ErrorFrame frame("PixelUnshuffle");
  detail::check_positive("downscale_factor", factor_);
  describe(text("downscale_factor=", factor_));
}

ChannelShuffle::ChannelShuffle(int64_t groups) : groups_(groups) {
  ErrorFrame frame("ChannelShuffle");
  detail::check_positive("groups", groups_);
  describe(text("groups=", groups_));
}

}  // namespace weft::nn
