#include "tests/ops/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::testing {

namespace {

/// The number as integers and bool can hold it: halves become wholes, positive ones stay positive.
double whole(double value, bool is_positive, DType dtype) {
  if (!std::isfinite(value) || std::abs(value) > 100) return 3;
  if (dtype == boolean) return value > 0.25 ? 1 : 0;
  double out = std::round(2 * value);
  if (dtype == u8) out = std::abs(out);
  return is_positive ? std::max(out, 1.0) : out;
}

double far_from(const std::vector<double>& kinks, Draw& from) {
  while (true) {
    const double value = from.normal();
    if (std::all_of(kinks.begin(), kinks.end(), [&](double kink) { return std::abs(value - kink) > 0.1; }))
      return value;
  }
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0,
                               -0.0,
                               kInf,
                               -kInf,
                               std::numeric_limits<double>::quiet_NaN(),
                               1e20,
                               -1e20,
                               std::numbers::pi,
                               -std::numbers::pi,
                               1.0,
                               -1.0,
                               1e-20,
                               -1e-20,
                               0.5,
                               -0.5,
                               30.0,
                               -30.0,
                               100.0,
                               -100.0};

}  // namespace

Draw::Draw(std::string_view name, size_t number) : state_(0xcbf29ce484222325u + number * 0x9e3779b97f4a7c15u) {
  for (char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

uint64_t Draw::bits() {  // splitmix64
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Draw::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Array draw(const InputSpec& spec, DType dtype, Draw& from) {
  using Kind = InputSpec::Kind;
  Array out{spec.shape, {}};
  if (spec.kind == Kind::absent) return {{}, {}, true};
  const size_t count = static_cast<size_t>(checked_numel(spec.shape));
  std::vector<double> ranks(count);
  std::iota(ranks.begin(), ranks.end(), -static_cast<double>(count / 2));
  for (size_t i = count; i > 1; --i) std::swap(ranks[i - 1], ranks[from.bits() % i]);
  const size_t first = from.bits() % std::size(kSpecial);
  for (size_t i = 0; i < count; ++i) {
    double value = 0;
    switch (spec.kind) {
      case Kind::normal: value = far_from(spec.list, from); break;
      case Kind::uniform: value = spec.low + (spec.high - spec.low) * from.uniform(); break;
      case Kind::distinct: value = 0.5 * ranks[i] + 0.125; break;
      case Kind::integers: value = spec.low + std::floor(from.uniform() * (spec.high - spec.low + 1)); break;
      case Kind::special: value = kSpecial[(first + i * 7) % std::size(kSpecial)]; break;
      case Kind::given: value = spec.list[i]; break;
      case Kind::absent: break;
    }
    const bool is_whole = spec.dtype || spec.kind == Kind::integers;
    if (!is_floating(dtype) && !is_whole) value = whole(value, spec.kind == Kind::uniform && spec.low > 0, dtype);
    if (dtype == u8 && spec.kind == Kind::integers) value = std::abs(value);
    out.values.push_back(value);
  }
  return array_of(laid_out(out, spec.dtype.value_or(dtype)));
}

std::string_view name_of(Layout layout) {
  constexpr std::string_view names[] = {"contiguous", "transposed", "channels-last", "reversed",
                                        "offset",     "expanded",   "padded"};
  return names[static_cast<int>(layout)];
}

namespace {

/// The first and the last axis with more than one element; -1 where there is none.
std::pair<int64_t, int64_t> wide_axes(const Shape& shape) {
  int64_t first = -1, last = -1;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (shape[static_cast<size_t>(i)] > 1) last = i, first = first < 0 ? i : first;
  return {first, last};
}

/// Half-open intervals of what padding leaves: not the first of the last wide axis, not the last of the first one.
std::vector<Interval> padded_box(const Shape& shape) {
  const auto [first, last] = wide_axes(shape);
  std::vector<Interval> box;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape[static_cast<size_t>(i)];
    box.push_back({i == last ? 1 : 0, i == first && first != last ? size - 1 : size});
  }
  return box;
}

/// Strides that step over memory in the order of `axes`, the last one fastest; `gap` more elements per axis.
Strides strides_in_order(const Shape& shape, const std::vector<size_t>& axes, int64_t gap) {
  Strides strides = IntList::filled(shape.size(), 0);
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[axes[i]] = step;
    step *= std::max<int64_t>(shape[axes[i]], 1) + gap;
  }
  return strides;
}

}  // namespace

Array adapted(Array values, Layout layout) {
  if (values.absent) return values;
  const int64_t axis = wide_axes(values.shape).first;
  if (layout == Layout::expanded && axis >= 0)
    return build(values.shape, [&](Index index) {
      index[static_cast<size_t>(axis)] = 0;
      return values.at(index);
    });
  if (layout == Layout::padded)
    return build(values.shape, [&, box = padded_box(values.shape)](const Index& index) {
      for (size_t i = 0; i < box.size(); ++i)
        if (index[i] < box[i].begin || index[i] >= box[i].end) return 0.0;
      return values.at(index);
    });
  return values;
}

Tensor laid_out(const Array& values, DType dtype, Layout layout) {
  if (values.absent) return {};
  const Shape& shape = values.shape;
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0u);
  if (layout == Layout::transposed) std::reverse(order.begin(), order.end());
  if (layout == Layout::channels_last && shape.size() == 4) order = {0, 2, 3, 1};
  Strides strides = strides_in_order(shape, order, layout == Layout::offset ? 1 : 0);
  int64_t offset = layout == Layout::offset ? 3 : 0;
  std::optional<View::Mask> mask;
  for (size_t i = 0; i < shape.size() && layout == Layout::reversed; ++i) {
    offset += strides[i] * std::max<int64_t>(shape[i] - 1, 0);
    strides[i] = -strides[i];
  }
  const int64_t wide = wide_axes(shape).first;
  if (layout == Layout::expanded && wide >= 0) strides[static_cast<size_t>(wide)] = 0;
  if (layout == Layout::padded && wide >= 0) mask = padded_box(shape);
  const View view = View::create(shape, strides, offset, mask);
  std::vector<double> memory(static_cast<size_t>(values.values.empty() ? offset : view.extent().second + 1), 77.0);
  size_t next = 0;
  for (const Index& index : indices_of(shape)) {
    const double value = values.values[next++];
    if (view.is_valid(Shape(index))) memory[static_cast<size_t>(view.linear_index(Shape(index)))] = value;
  }
  const Tensor buffer = Tensor::from<double>(memory).to(dtype);
  return internal::make_tensor(internal::storage_ptr(buffer), view, dtype);
}

Array array_of(const Tensor& tensor) {
  if (!tensor.defined()) return {{}, {}, true};
  return {tensor.shape(), tensor.detach().to_vector<double>()};
}

}  // namespace weft::testing
