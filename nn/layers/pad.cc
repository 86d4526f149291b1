#include "nn/layers/pad.h"

#include <vector>

#include "nn/layers/option_list.h"

namespace weft::nn::detail {

Tensor pad_last(const Tensor& x, std::span<const int64_t> widths, PadMode mode, const Scalar& value) {
  ErrorFrame frame("pad", x);
  const size_t axes = widths.size() / 2;
  if (x.rank() < static_cast<int64_t>(axes))
    throw ShapeError(text("x must have ", axes, " axes or more, not shape ", x.shape()));
  std::vector<Padding> all(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes; ++i) all[all.size() - 1 - i] = {widths[2 * i], widths[2 * i + 1]};
  return pad(x, all, mode, value);
}

std::string shown_padding(std::span<const int64_t> widths, const Scalar& value) {
  OptionList list;
  for (const int64_t width : widths) list.add(width);
  if (value.to_double() != 0) list.add("value", value.to_double());
  return list.line();
}

}  // namespace weft::nn::detail
