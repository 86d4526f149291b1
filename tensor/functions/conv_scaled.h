// A convolution fused with the ops that often follow it: a scale and a shift per filter (a batch norm in evaluation
// mode), a residual addition, and relu. The Winograd kernel applies them before it writes its results to memory.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The ops applied to the result of the convolution, in this order. Undefined tensors are skipped.
struct ConvScaling {
  Tensor scale = {};     // (O)
  Tensor shift = {};     // (O)
  Tensor residual = {};  // of the result's shape
  bool relu = false;
};

/// A cache of a convolution weight in the form its kernel needs: the layout of oneDNN's kernel, or the weight
/// transformed for the Winograd kernel (4 times the weight's memory). It is recomputed when the weight changes. All
/// caches together hold at most 512 MB. One object serves one weight and one number of groups. Copies share the cache;
/// several threads may use it (a lock serializes their calls).
class PrepackedConvWeight {
 public:
  /// The value is undefined if the kernel needs no such form, if the weight's memory can change without notice (because
  /// its address was given out), or if the limit of 512 MB is reached.
  struct Packed {
    Tensor value;
    int64_t layout = 0;
  };
  PrepackedConvWeight();
  /// The cached form of `weight` for inputs of shape `x`; computes it if needed.
  Packed get(const Tensor& weight, const Shape& x, const Conv2dOptions& options) const;

 private:
  struct State;
  IntrusivePtr<SharedObject> state_;  // a State
};

/// relu(conv2d(x, weight, options) * scale + shift + residual), with relu only if scaling.relu. x (N, C, H, W) and
/// weight (O, C / groups, kh, kw) give (N, O, H', W') in channels-last memory order. If a gradient is needed, the
/// separate functions run instead of the fused op. Dtypes and errors are those of conv2d(); ShapeError for a scale,
/// shift or residual of a wrong shape.
Tensor conv2d_scaled(const Tensor& x, const Tensor& weight, const ConvScaling& scaling,
                     const Conv2dOptions& options = {}, const PrepackedConvWeight* prepacked = nullptr);

}  // namespace weft
