// Layers over im2col(), fold() and the shuffles of pixels and channels.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/fold.h"
#include "tensor/functions/pixel_shuffle.h"

namespace weft::nn {

/// x (N, C, H, W) to (N, C kh kw, windows): see im2col().
class Unfold : public Layer<Unfold> {
 public:
  explicit Unfold(const FoldOptions& options);
  explicit Unfold(int64_t kernel_size) : Unfold(FoldOptions{.kernel_size = kernel_size}) {}
  Tensor forward(const Tensor& x) const { return im2col(x, options_); }
  Unfold remake() const { return Unfold(options_); }

 private:
  FoldOptions options_;
};

/// (N, C kh kw, windows) to (N, C, size): see fold().
class Fold : public Layer<Fold> {
 public:
  Fold(const Size2& size, const FoldOptions& options);
  Fold(const Size2& size, int64_t kernel_size) : Fold(size, FoldOptions{.kernel_size = kernel_size}) {}
  Tensor forward(const Tensor& x) const { return fold(x, size_, options_); }
  Fold remake() const { return Fold(size_, options_); }

 private:
  Size2 size_;
  FoldOptions options_;
};

/// x (..., C r^2, H, W) to (..., C, H r, W r).
class PixelShuffle : public Layer<PixelShuffle> {
 public:
  explicit PixelShuffle(int64_t upscale_factor);
  Tensor forward(const Tensor& x) const { return pixel_shuffle(x, factor_); }
  PixelShuffle remake() const { return PixelShuffle(factor_); }

 private:
  int64_t factor_;
};

/// x (..., C, H r, W r) to (..., C r^2, H, W).
class PixelUnshuffle : public Layer<PixelUnshuffle> {
 public:
  explicit PixelUnshuffle(int64_t downscale_factor);
  Tensor forward(const Tensor& x) const { return pixel_unshuffle(x, factor_); }
  PixelUnshuffle remake() const { return PixelUnshuffle(factor_); }

 private:
  int64_t factor_;
};

/// Channel g C / groups + c of x (N, C, ...) at c groups + g.
class ChannelShuffle : public Layer<ChannelShuffle> {
 public:
  explicit ChannelShuffle(int64_t groups);
  Tensor forward(const Tensor& x) const { return channel_shuffle(x, groups_); }
  ChannelShuffle remake() const { return ChannelShuffle(groups_); }

 private:
  int64_t groups_;
};

}  // namespace weft::nn
