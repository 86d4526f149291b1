// Printing: nested brackets for every rank, elements aligned, large tensors shortened.
#include "tensor/functions/print.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <ostream>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/tensor.h"

namespace weft {
namespace {

std::mutex options_mutex;
PrintOptions current_options;

constexpr std::string_view kHead = "Tensor(";

class Printer {
 public:
  Printer(const Tensor& tensor, const PrintOptions& options)
      : tensor_(dispatch::alias(tensor).to(Device::cpu())),
        device_(tensor.device()),
        options_(options),
        shortened_(tensor.numel() > options.threshold) {
    if (tensor.numel() == 0) return;
    each_shown(Shape(), [this](const Shape& index) { note_magnitude(index); });
    scientific_ = options.scientific || most_ > 1e8 || least_ < 1e-4 || most_ / least_ > 1000;  // PyTorch's rule
    each_shown(Shape(), [this](const Shape& index) {
      if (!index.empty()) width_ = std::max(width_, element(index).size());
    });
  }

  std::string run() {
    std::string out(kHead);
    if (tensor_.numel() == 0)
      out += "[]";
    else
      print(out, Shape());
    if (shortened_ || tensor_.numel() == 0) out += text(", shape=", tensor_.shape());
    out += text(", dtype=", tensor_.dtype());
    if (!device_.is_cpu()) out += ", device=" + name_of(device_);
    return out + ")";
  }

 private:
  /// The positions of an axis that are shown; -1 stands for the dots.
  std::vector<int64_t> shown(int64_t size) const {
    std::vector<int64_t> out;
    const bool cut = shortened_ && size - options_.edge_items > options_.edge_items;
    for (int64_t i = 0; i < size; ++i) {
      if (cut && i == options_.edge_items) {
        out.push_back(-1);
        i = size - options_.edge_items;
      }
      out.push_back(i);
    }
    return out;
  }

  /// The element as a tensor.
  Tensor at(const Shape& index) const {
    // Without dispatch, except for padding: printing is no op, and a tensor whose history is outdated prints as well.
    View view = tensor_.layout();
    for (int64_t i : index) {
      std::optional<View> next = view.select(0, i);
      view = next ? *std::move(next) : View::create({0}, {1});  // a scalar out of the padding
    }
    const bool padding = view.numel() == 0;
    return padding ? zeros({}, tensor_.dtype())
                   : internal::make_tensor(internal::storage_ptr(tensor_), view, tensor_.dtype());
  }

  std::string element(const Shape& index) const {
    const Tensor one = at(index);
    if (tensor_.dtype() == DType::boolean) return one.item<bool>() ? "true" : "false";
    if (is_integer(tensor_.dtype())) return std::to_string(one.item<int64_t>());
    const double value = one.item<double>();
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char buffer[400];  // 309 digits before the point and 60 after it
    const auto format = scientific_ ? std::chars_format::scientific : std::chars_format::fixed;
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format, options_.precision).ptr};
  }

  void note_magnitude(const Shape& index) {
    if (!is_floating(tensor_.dtype())) return;
    const double magnitude = std::fabs(at(index).item<double>());
    if (magnitude == 0 || !std::isfinite(magnitude)) return;
    most_ = std::max(most_, magnitude);
    least_ = std::min(least_, magnitude);
  }

  /// f(index) for each element that is shown and begins with `index`.
  template <class F> void each_shown(const Shape& index, const F& f) const {
    const size_t axis = index.size();
    if (axis == tensor_.shape().size()) return f(index);
    for (int64_t i : shown(tensor_.shape()[axis])) {
      if (i < 0) continue;
      Shape next = index;
      next.push_back(i);
      each_shown(next, f);
    }
  }

  void print(std::string& out, const Shape& index) const {
    const size_t axis = index.size(), rank = tensor_.shape().size();
    if (axis == rank) {
      const std::string value = element(index);
      out += std::string(width_ > value.size() ? width_ - value.size() : 0, ' ') + value;
      return;
    }
    const std::string indent(kHead.size() + axis + 1, ' ');
    out += "[";
    size_t column = indent.size();
    bool first = true;
    for (int64_t i : shown(tensor_.shape()[axis])) {
      if (!first) {
        out += ",";
        if (axis + 1 < rank) {
          out += std::string(rank - axis - 1, '\n') + indent;
        } else if (column + width_ + 2 > static_cast<size_t>(options_.line_width)) {
          out += "\n" + indent;
          column = indent.size();
        } else {
          out += " ";
        }
      }
      first = false;
      column += width_ + 2;
      if (i < 0) {
        out += "...";
        continue;
      }
      Shape next = index;
      next.push_back(i);
      print(out, next);
    }
    out += "]";
  }

  Tensor tensor_;  // a body without history, in host memory
  Device device_;
  PrintOptions options_;
  bool shortened_;
  size_t width_ = 0;
  // Of what is shown, finite and not 0.
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
  bool scientific_ = false;
};

}  // namespace

void set_print_options(const PrintOptions& options) {
  ErrorFrame frame("set_print_options");
  if (options.precision < 0 || options.precision > 60)
    throw Error(text("precision ", options.precision, " must lie in [0, 60]"));
  if (options.threshold < 0) throw Error(text("threshold ", options.threshold, " must be 0 or more"));
  if (options.line_width < 1) throw Error(text("line_width ", options.line_width, " must be 1 or more"));
  if (options.edge_items < 1) throw Error(text("edge_items ", options.edge_items, " must be 1 or more"));
  const std::lock_guard lock(options_mutex);
  current_options = options;
}

PrintOptions print_options() {
  const std::lock_guard lock(options_mutex);
  return current_options;
}

std::string Tensor::to_string() const {
  if (!defined()) return "Tensor(undefined)";
  return Printer(*this, print_options()).run();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

}  // namespace weft
