// attribute_text: prints the value of an op's attribute. Other files add overloads for their own types.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/core/device.h"
#include "tensor/core/dtype.h"
#include "tensor/core/scalar.h"
#include "tensor/core/view.h"

namespace weft::detail {

std::string attribute_text(bool value);
std::string attribute_text(int64_t value);
inline std::string attribute_text(int value) { return attribute_text(static_cast<int64_t>(value)); }
std::string attribute_text(uint64_t value);
std::string attribute_text(double value);
std::string attribute_text(const Scalar& value);
std::string attribute_text(DType value);
std::string attribute_text(Device value);
std::string attribute_text(const IntList& value);
std::string attribute_text(const std::vector<Interval>& value);
std::string attribute_text(const std::vector<Padding>& value);
std::string attribute_text(const View& value);
template <class T> std::string attribute_text(const std::optional<T>& value) {
  return value ? attribute_text(*value) : std::string("none");
}

/// Appends `name=value`, after a comma if the list is not empty.
void append_attribute(std::string& list, std::string_view name, const std::string& value);

}  // namespace weft::detail
