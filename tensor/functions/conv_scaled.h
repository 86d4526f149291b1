// A convolution with what often follows it: a factor and a term for each filter (a batch norm in evaluation), a
// residual, relu. In one op, in which Winograd's filtering does all of it on the way to memory.
#pragma once

#include <memory>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// What becomes of a convolution's results; undefined parts are left out.
struct ConvScaling {
  Tensor scale = {};     // (O)
  Tensor shift = {};     // (O)
  Tensor residual = {};  // of the result's shape
  bool relu = false;
};

/// What convolutions compute of one weight alone, kept until the weight changes: the weight in the layout of the
/// library's kernel, or 4 times its memory in Winograd's filtering; 512 MB of all weights together at most. For one
/// weight, and convolutions of the same groups. Copies share what is kept; threads may use one at a time.
class PrepackedConvWeight {
 public:
  /// Undefined where a convolution computes nothing of the weight alone, where the memory of the weight may change
  /// unseen (its address was given out), and beyond the 512 MB.
  struct Packed {
    Tensor value;
    int64_t layout = 0;
  };
  PrepackedConvWeight();
  /// For images of shape `x`.
  Packed get(const Tensor& weight, const Shape& x, const Conv2dOptions& options) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// relu(conv2d(x, weight, options) scale + shift + residual) of x (N, C, H, W) and weight (O, C / groups, kh, kw), relu
/// where asked for: (N, O, H', W') in channels-last memory order. Where a gradient is wanted, it is composed of these
/// functions. Dtypes and errors are conv2d's; ShapeError for a scale, shift or residual of another shape.
Tensor conv2d_scaled(const Tensor& x, const Tensor& weight, const ConvScaling& scaling,
                     const Conv2dOptions& options = {}, const PrepackedConvWeight* prepacked = nullptr);

}  // namespace weft
