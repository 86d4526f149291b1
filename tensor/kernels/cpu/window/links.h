// Which pixels a window holds along an axis, and which windows hold a pixel: shared by pools, depthwise and
// grouped convolutions.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/ops/window.h"

namespace weft::kernels::cpu {

/// How windows lie along an axis.
struct AxisWindows {
  int64_t kernel, stride, padding, dilation;
};

/// A place that one element of a window connects: where it lies on the other side's axis, and which element it is.
struct Link {
  int64_t at, tap;
};

/// The links of every position of an axis, in the order of taps. Windows may be larger than the image by far: only taps
/// that can lie inside of it are looked at.
class Links {
 public:
  /// From outputs to inputs: the elements of each window that lie inside of the axis.
  static Links of_windows(const AxisWindows& o, int64_t inputs, int64_t outputs) {
    Links links;
    for (int64_t window = 0; window < outputs; ++window) {
      links.begin_position();
      const int64_t start = window * o.stride - o.padding, first = start >= 0 ? 0 : (-start - 1) / o.dilation + 1;
      for (int64_t tap = first; tap < o.kernel; ++tap) {
        const int64_t at = start + tap * o.dilation;
        if (at >= inputs) break;
        links.links_.push_back({at, tap});
      }
    }
    links.begin_position();
    return links;
  }
  /// From inputs to outputs: the windows that hold each pixel.
  static Links of_pixels(const AxisWindows& o, int64_t inputs, int64_t outputs) {
    const int64_t end = outputs * o.stride;
    Links links;
    for (int64_t pixel = 0; pixel < inputs; ++pixel) {
      links.begin_position();
      const int64_t last = pixel + o.padding, first = last < end ? 0 : (last - end) / o.dilation + 1;
      for (int64_t tap = first; tap < o.kernel; ++tap) {
        const int64_t start = last - tap * o.dilation;
        if (start < 0) break;
        if (start % o.stride == 0) links.links_.push_back({start / o.stride, tap});
      }
    }
    links.begin_position();
    return links;
  }
  /// Of windows that share an axis.
  static Links of_shares(int64_t inputs, int64_t outputs) {
    Links links;
    for (int64_t window = 0; window < outputs; ++window) {
      links.begin_position();
      const auto [begin, end] = shared_range(window, outputs, inputs);
      for (int64_t at = begin; at < end; ++at) links.links_.push_back({at, at - begin});
    }
    links.begin_position();
    return links;
  }
  static Links of_shared_pixels(int64_t inputs, int64_t outputs) {
    Links links;
    for (int64_t pixel = 0; pixel < inputs; ++pixel) {
      links.begin_position();
      const auto [begin, end] = shared_range(pixel, inputs, outputs);
      for (int64_t at = end - 1; at >= begin; --at)  // the last window begins last: the pixel is its lowest tap
        links.links_.push_back({at, pixel - shared_range(at, outputs, inputs).begin});
    }
    links.begin_position();
    return links;
  }
  const Link* begin(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position)]; }
  const Link* end(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position) + 1]; }

 private:
  void begin_position() { first_.push_back(links_.size()); }
  std::vector<Link> links_;
  std::vector<size_t> first_;
};

}  // namespace weft::kernels::cpu
