#include "nn/layers/upsample.h"

#include "nn/layers/option_list.h"

namespace weft::nn {
namespace {

std::string described(const InterpolateOptions& o) {
  detail::OptionList out;
  if (!o.size.empty()) out.add("size", o.size);
  if (o.scale.values.size() == 1) out.add("scale", o.scale.values[0]);
  if (o.scale.values.size() > 1) {
    detail::OptionList factors;
    for (const double factor : o.scale.values) factors.add(factor);
    out.add("scale", "{" + factors.line() + "}");
  }
  return out.add("mode", name_of(o.mode)).add_unless(false, "align_corners", o.align_corners).line();
}

}  // namespace

Upsample::Upsample(const InterpolateOptions& options) : options_(options) {
  ErrorFrame frame("Upsample");
  if (options.size.empty() == options.scale.values.empty()) throw Error("either size or scale must be given");
  describe(described(options));
}

}  // namespace weft::nn
