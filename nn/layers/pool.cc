#include "nn/layers/pool.h"

#include <utility>

#include "nn/layers/option_list.h"
#include "nn/layers/options.h"

namespace weft::nn {
namespace {

template <class Sizes> std::string described(const std::string& first, const PoolOptionsOf<Sizes>& o) {
  detail::OptionList out;
  if (!first.empty()) out.add(first);
  out.add("kernel_size", o.kernel_size).add("stride", o.step());
  if (first.empty()) out.add("padding", o.padding);  // `first` is the order of a p-norm, which takes no padding
  out.add_unless(1, "dilation", o.dilation).add_unless(false, "ceil_mode", o.ceil_mode);
  out.add_unless(true, "count_include_pad", o.count_include_pad);
  if (o.divisor_override) out.add("divisor_override", *o.divisor_override);
  return out.line();
}

}  // namespace

template <class Self, class Sizes>
PoolLayer<Self, Sizes>::PoolLayer(const char* name, const PoolOptionsOf<Sizes>& o, const std::string& shown)
    : options_(o) {
  ErrorFrame frame(name);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.step());
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (o.padding[i] > o.kernel_size[i] / 2)
      throw ShapeError(text("padding ", o.padding[i], " must be at most half of kernel_size ", o.kernel_size[i]));
  this->describe(described(shown, o));
}

template class PoolLayer<MaxPool1d, Size1>;
template class PoolLayer<MaxPool2d, Size2>;
template class PoolLayer<MaxPool3d, Size3>;
template class PoolLayer<AvgPool1d, Size1>;
template class PoolLayer<AvgPool2d, Size2>;
template class PoolLayer<AvgPool3d, Size3>;
template class PoolLayer<LPPool1d, Size1>;
template class PoolLayer<LPPool2d, Size2>;
template class PoolLayer<LPPool3d, Size3>;

template <class Self, class Sizes>
AdaptivePoolLayer<Self, Sizes>::AdaptivePoolLayer(const char* name, const OptionalSizes& size) : size_(size) {
  ErrorFrame frame(name);
  std::string line;
  bool one = true;
  for (const std::optional<int64_t>& axis : size) {
    if (axis) detail::check_positive("size", *axis);
    one = one && axis == size[0];
    line += text(line.empty() ? "" : ", ", axis ? std::to_string(*axis) : "none");
  }
  if (one && size[0]) line = std::to_string(*size[0]);
  this->describe("output_size=" + (one ? line : "{" + line + "}"));
}

template <class Self, class Sizes>
AdaptivePoolLayer<Self, Sizes>::AdaptivePoolLayer(const char* name, const Sizes& size)
    : AdaptivePoolLayer(name, [&] {
        OptionalSizes out;
        for (int64_t i = 0; i < Sizes::kAxes; ++i) out[static_cast<size_t>(i)] = size[i];
        return out;
      }()) {}

template <class Self, class Sizes> Sizes AdaptivePoolLayer<Self, Sizes>::size_for(const Tensor& x) const {
  const auto axis = [&](size_t i) {
    const int64_t own = static_cast<int64_t>(i) - Sizes::kAxes;  // from the end
    return size_[i] ? *size_[i] : x.rank() >= -own ? x.size(own) : 1;
  };
  return [&]<size_t... i>(std::index_sequence<i...>) { return Sizes(axis(i)...); }
  (std::make_index_sequence<Sizes::kAxes>());
}

template class AdaptivePoolLayer<AdaptiveAvgPool1d, Size1>;
template class AdaptivePoolLayer<AdaptiveAvgPool2d, Size2>;
template class AdaptivePoolLayer<AdaptiveAvgPool3d, Size3>;
template class AdaptivePoolLayer<AdaptiveMaxPool1d, Size1>;
template class AdaptivePoolLayer<AdaptiveMaxPool2d, Size2>;
template class AdaptivePoolLayer<AdaptiveMaxPool3d, Size3>;

template <class Self, class Sizes>
FractionalPoolLayer<Self, Sizes>::FractionalPoolLayer(const char* name, const FractionalPoolOptionsOf<Sizes>& o)
    : options_(o) {
  ErrorFrame frame(name);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::OptionList list;
  list.add("kernel_size", o.kernel_size);
  const std::vector<double>& ratios = o.output_ratio.values;
  if ((o.output_size == Sizes(0)) == ratios.empty()) throw Error("it takes one of output_size and output_ratio");
  if (ratios.empty()) {
    detail::check_positive("output_size", o.output_size);
    this->describe(list.add("output_size", o.output_size).line());
    return;
  }
  if (ratios.size() > 1 && ratios.size() != static_cast<size_t>(Sizes::kAxes))
    throw Error(text(ratios.size(), " ratios for ", Sizes::kAxes, " axes; give one, or one for each"));
  std::string shown;
  for (const double ratio : ratios) {
    if (!(ratio > 0 && ratio < 1)) throw Error(text("output_ratio ", ratio, " must lie between 0 and 1"));
    shown += text(shown.empty() ? "" : ", ", ratio);
  }
  this->describe(list.add("output_ratio", ratios.size() == 1 ? shown : "{" + shown + "}").line());
}

template class FractionalPoolLayer<FractionalMaxPool2d, Size2>;
template class FractionalPoolLayer<FractionalMaxPool3d, Size3>;

}  // namespace weft::nn
