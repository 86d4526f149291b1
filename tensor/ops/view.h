// Descriptors of the view ops: functions from View to View.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tensor/core/view.h"

namespace weft::op {

struct Reshape {
  Shape shape;
  static constexpr std::string_view name = "view";
  void attributes(auto visit) const { visit("shape", shape); }
  bool operator==(const Reshape&) const = default;
  std::optional<View> view(const View& in) const { return in.reshape(shape); }
};

struct Expand {
  Shape shape;
  static constexpr std::string_view name = "expand";
  void attributes(auto visit) const { visit("shape", shape); }
  bool operator==(const Expand&) const = default;
  std::optional<View> view(const View& in) const { return in.broadcast(shape); }
};

struct Permute {
  IntList axes;
  static constexpr std::string_view name = "permute";
  void attributes(auto visit) const { visit("axes", axes); }
  bool operator==(const Permute&) const = default;
  std::optional<View> view(const View& in) const { return in.permute(axes); }
};

struct Squeeze {
  int64_t axis;
  static constexpr std::string_view name = "squeeze";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Squeeze&) const = default;
  std::optional<View> view(const View& in) const { return in.squeeze(axis); }
};

struct SqueezeAll {
  static constexpr std::string_view name = "squeeze_all";
  void attributes(auto) const {}
  bool operator==(const SqueezeAll&) const = default;
  std::optional<View> view(const View& in) const { return in.squeeze_all(); }
};

struct Unsqueeze {
  int64_t axis;
  static constexpr std::string_view name = "unsqueeze";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Unsqueeze&) const = default;
  std::optional<View> view(const View& in) const { return in.unsqueeze(axis); }
};

struct Slice {
  int64_t axis;
  std::optional<int64_t> start;
  std::optional<int64_t> end;
  int64_t step;
  static constexpr std::string_view name = "slice";
  void attributes(auto visit) const {
    visit("axis", axis), visit("start", start), visit("end", end), visit("step", step);
  }
  bool operator==(const Slice&) const = default;
  std::optional<View> view(const View& in) const { return in.slice(axis, start, end, step); }
};

struct Select {
  int64_t axis;
  int64_t index;
  static constexpr std::string_view name = "select";
  void attributes(auto visit) const { visit("axis", axis), visit("index", index); }
  bool operator==(const Select&) const = default;
  std::optional<View> view(const View& in) const { return in.select(axis, index); }
};

struct Shrink {
  std::vector<Interval> bounds;
  static constexpr std::string_view name = "shrink";
  void attributes(auto visit) const { visit("bounds", bounds); }
  bool operator==(const Shrink&) const = default;
  std::optional<View> view(const View& in) const { return in.shrink(bounds); }
};

struct Flip {
  IntList axes;
  static constexpr std::string_view name = "flip";
  void attributes(auto visit) const { visit("axes", axes); }
  bool operator==(const Flip&) const = default;
  std::optional<View> view(const View& in) const { return in.flip(axes); }
};

struct Pad {
  std::vector<Padding> padding;
  static constexpr std::string_view name = "pad";
  void attributes(auto visit) const { visit("padding", padding); }
  bool operator==(const Pad&) const = default;
  std::optional<View> view(const View& in) const { return in.pad(padding); }
};

struct Unfold {
  int64_t axis;
  int64_t size;
  int64_t step;
  static constexpr std::string_view name = "unfold";
  void attributes(auto visit) const { visit("axis", axis), visit("size", size), visit("step", step); }
  bool operator==(const Unfold&) const = default;
  std::optional<View> view(const View& in) const { return in.unfold(axis, size, step); }
};

struct Diagonal {
  int64_t offset;
  int64_t axis0;
  int64_t axis1;
  static constexpr std::string_view name = "diagonal";
  void attributes(auto visit) const { visit("offset", offset), visit("axis0", axis0), visit("axis1", axis1); }
  bool operator==(const Diagonal&) const = default;
  std::optional<View> view(const View& in) const { return in.diagonal(offset, axis0, axis1); }
};

struct AsStrided {
  Shape shape;
  Strides strides;
  int64_t offset;
  static constexpr std::string_view name = "as_strided";
  void attributes(auto visit) const { visit("shape", shape), visit("strides", strides), visit("offset", offset); }
  bool operator==(const AsStrided&) const = default;
  std::optional<View> view(const View& in) const { return in.as_strided(shape, strides, offset); }
};

}  // namespace weft::op
