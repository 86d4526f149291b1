// Formatting of layer options for printing, in PyTorch's style: `3, 4, kernel_size=3, stride=1, bias=false`.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft::nn::detail {

/// One number if all sizes are equal, else {1, 2}.
template <class Sizes> std::string shown_sizes(const Sizes& value) {
  std::string out = std::to_string(value[0]);
  bool equal = true;
  for (int64_t i = 1; i < Sizes::kAxes; ++i) {
    out = text(out, ", ", value[i]);
    equal = equal && value[i] == value[0];
  }
  return equal ? std::to_string(value[0]) : "{" + out + "}";
}

template <class T> std::string shown(const T& value) {
  if constexpr (std::same_as<T, bool>)
    return value ? "true" : "false";
  else if constexpr (requires { T::kAxes; })
    return shown_sizes(value);
  else
    return text(value);
}

class OptionList {
 public:
  /// Adds a value without a name.
  template <class T> OptionList& add(const T& value) & {
    line_ += (line_.empty() ? "" : ", ") + shown(value);
    return *this;
  }
  template <class T> OptionList& add(const char* name, const T& value) & { return add(name + ("=" + shown(value))); }
  /// Adds the value unless it equals the default `usual`.
  template <class T> OptionList& add_unless(const std::type_identity_t<T>& usual, const char* name, const T& value) & {
    return value == usual ? *this : add(name, value);
  }
  const std::string& line() const { return line_; }

 private:
  std::string line_;
};

}  // namespace weft::nn::detail
