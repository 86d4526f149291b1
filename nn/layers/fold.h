// Layers for im2col(), fold(), and the pixel and channel shuffles.
#pragma once

#include "nn/layers/options.h"
#include "nn/module/layer.h"
#include "tensor/functions/fold.h"
#include "tensor/functions/pixel_shuffle.h"

namespace weft::nn {

/// x (N, C, H, W) -> (N, C kh kw, windows); see im2col().
class Unfold : public Layer<Unfold> {
 public:
  explicit Unfold(const FoldOptions& options);
  explicit Unfold(int64_t kernel_size, const FoldOptions& options = {})
      : Unfold(detail::positional(options, &FoldOptions::kernel_size, kernel_size)) {}
  explicit Unfold(const Size2& sizes) = delete;  // {3, 1} would be the first options: write {.kernel_size = {3, 1}}
  Tensor forward(const Tensor& x) const { return im2col(x, options_); }
  Unfold remake() const { return Unfold(options_); }

 private:
  FoldOptions options_;
};

/// x (N, C kh kw, windows) -> (N, C, size[0], size[1]), summing overlaps; see fold().
class Fold : public Layer<Fold> {
 public:
  Fold(const Size2& size, const FoldOptions& options);
  Fold(const Size2& size, int64_t kernel_size, const FoldOptions& options = {})
      : Fold(size, detail::positional(options, &FoldOptions::kernel_size, kernel_size)) {}
  Fold(const Size2& size, const Size2& sizes) = delete;  // write {.kernel_size = {3, 1}}
  Tensor forward(const Tensor& x) const { return fold(x, size_, options_); }
  Fold remake() const { return Fold(size_, options_); }

 private:
  Size2 size_;
  FoldOptions options_;
};

/// x (..., C r^2, H, W) -> (..., C, H r, W r).
class PixelShuffle : public Layer<PixelShuffle> {
 public:
  explicit PixelShuffle(int64_t upscale_factor);
  Tensor forward(const Tensor& x) const { return pixel_shuffle(x, factor_); }
  PixelShuffle remake() const { return PixelShuffle(factor_); }

 private:
  int64_t factor_;
};

/// x (..., C, H r, W r) -> (..., C r^2, H, W).
class PixelUnshuffle : public Layer<PixelUnshuffle> {
 public:
  explicit PixelUnshuffle(int64_t downscale_factor);
  Tensor forward(const Tensor& x) const { return pixel_unshuffle(x, factor_); }
  PixelUnshuffle remake() const { return PixelUnshuffle(factor_); }

 private:
  int64_t factor_;
};

/// Moves channel g C / groups + c of x (N, C, ...) to position c groups + g.
class ChannelShuffle : public Layer<ChannelShuffle> {
 public:
  explicit ChannelShuffle(int64_t groups);
  Tensor forward(const Tensor& x) const { return channel_shuffle(x, groups_); }
  ChannelShuffle remake() const { return ChannelShuffle(groups_); }

 private:
  int64_t groups_;
};

}  // namespace weft::nn
