#include "tensor/functions/pad_mode.h"

#include <algorithm>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/infer.h"

namespace weft {
namespace {

/// The entries of `axis` that lie `count` before its start, or behind its end.
Tensor outside(const Tensor& x, int64_t axis, int64_t count, bool before, PadMode mode) {
  const int64_t size = x.size(axis);
  const auto require = [&](bool enough, const char* what) {
    if (!enough) throw ShapeError(text(what, " takes no ", count, " entries from axis ", axis, " of size ", size));
  };
  if (mode == PadMode::reflect) {
    require(count < size, "reflect");
    return flip(before ? slice(x, axis, 1, count + 1) : slice(x, axis, size - 1 - count, size - 1), {axis});
  }
  if (mode == PadMode::circular) {
    require(count <= size, "circular");
    return before ? slice(x, axis, size - count) : slice(x, axis, 0, count);
  }
  require(size > 0, "replicate");
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = count;
  return expand(before ? slice(x, axis, 0, 1) : slice(x, axis, size - 1), shape);
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
  if (value == Scalar(0) || (value.is_floating() && value.to_double() == 0)) return pad(x, widths);
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

}  // namespace

Tensor pad(const Tensor& x, const std::vector<Padding>& widths, PadMode mode, const Scalar& value) {
  ErrorFrame frame("pad", x);
  if (static_cast<int64_t>(widths.size()) != x.rank())
    throw ShapeError(text(widths.size(), " pairs of widths for ", x.rank(), " axes"));
  Tensor out = cut(x, widths);
  std::vector<Padding> grown = widths;
  for (Padding& width : grown) width = {std::max<int64_t>(width.first, 0), std::max<int64_t>(width.second, 0)};
  if (mode == PadMode::constant) return with_constant(out, grown, value);
  for (size_t i = 0; i < grown.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    std::vector<Tensor> parts;
    if (grown[i].first > 0) parts.push_back(outside(out, axis, grown[i].first, true, mode));
    parts.push_back(out);
    if (grown[i].second > 0) parts.push_back(outside(out, axis, grown[i].second, false, mode));
    if (parts.size() > 1) out = cat(parts, axis);
  }
  return out;
}

}  // namespace weft
