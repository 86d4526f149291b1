#include "tensor/functions/pad_mode.h"

#include <algorithm>
#include <cmath>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/infer.h"
#include "tensor/ops/pad_mode.h"

namespace weft {
namespace {

/// ShapeError where an axis has too few entries to take `widths` from.
void check_sources(const Tensor& x, const std::vector<Padding>& widths, PadMode mode) {
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const auto [before, after] = widths[static_cast<size_t>(axis)];
    const int64_t size = x.size(axis), most = mode == PadMode::reflect ? size - 1 : size;
    for (const int64_t count : {before, after})
      if (mode == PadMode::replicate ? count > 0 && size == 0 : count > std::max<int64_t>(most, 0))
        throw ShapeError(
            text(attribute_text(mode), " takes no ", count, " entries from axis ", axis, " of size ", size));
  }
}

Tensor cut(const Tensor& x, const std::vector<Padding>& widths) {
  Tensor out = x;
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto [before, after] = widths[i];
    const auto axis = static_cast<int64_t>(i);
    if (before >= 0 && after >= 0) continue;
    const int64_t begin = before < 0 ? checked_multiply(before, -1) : 0;
    const int64_t end = checked_add(x.size(axis), std::min<int64_t>(after, 0));
    if (begin > end)
      throw ShapeError(
          text("widths ", before, " and ", after, " leave nothing of axis ", i, " of size ", x.size(axis)));
    out = slice(out, axis, begin, end);
  }
  return out;
}

Tensor with_constant(const Tensor& x, const std::vector<Padding>& widths, const Scalar& value) {
  if (value.to_double() == 0 && !std::signbit(value.to_double())) return pad(x, widths);
  check_fits(value, x.dtype());
  Shape shape = x.shape();
  for (size_t i = 0; i < widths.size(); ++i)
    shape[i] = checked_add(shape[i], checked_add(widths[i].first, widths[i].second));
  const Tensor out = full(shape, value, x.dtype(), x.device());
  Tensor inside = out;
  for (size_t i = 0; i < widths.size(); ++i)
    inside = slice(inside, static_cast<int64_t>(i), widths[i].first, widths[i].first + x.shape()[i]);
  inside.copy_(x);
  return out;
}

/// x with entries of its own at its ends.
Tensor filled(const Tensor& x, const std::vector<Padding>& widths, PadMode mode) {
  check_sources(x, widths, mode);
  const auto is_none = [](const Padding& width) { return width == Padding{0, 0}; };
  return std::all_of(widths.begin(), widths.end(), is_none) ? x : dispatch::apply(op::PadMode{widths, mode}, x);
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<Padding>& widths, PadMode mode, const Scalar& value) {
  ErrorFrame frame("pad", x);
  if (static_cast<int64_t>(widths.size()) != x.rank())
    throw ShapeError(text(widths.size(), " pairs of widths for ", x.rank(), " axes"));
  std::vector<Padding> grown = widths;
  for (Padding& width : grown) width = {std::max<int64_t>(width.first, 0), std::max<int64_t>(width.second, 0)};
  if (mode == PadMode::constant) return with_constant(cut(x, widths), grown, value);
  // As in PyTorch, what is cut off at one end is still seen from the other, but in a circle, which goes over the rest.
  const Tensor out =
      mode == PadMode::circular ? filled(cut(x, widths), grown, mode) : cut(filled(x, grown, mode), widths);
  return dispatch::unshared(out, x);
}

}  // namespace weft
