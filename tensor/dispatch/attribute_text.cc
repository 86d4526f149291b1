#include "tensor/dispatch/attribute_text.h"

#include <charconv>

#include "tensor/core/error.h"

namespace weft {
namespace detail {

std::string attribute_text(bool value) { return value ? "true" : "false"; }
std::string attribute_text(int64_t value) { return std::to_string(value); }
std::string attribute_text(uint64_t value) { return std::to_string(value); }
std::string attribute_text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 6).ptr};
}
std::string attribute_text(const Scalar& value) {
  return value.is_floating() ? attribute_text(value.to_double()) : attribute_text(value.to_int());
}
std::string attribute_text(DType value) { return std::string(name_of(value)); }
std::string attribute_text(Device value) { return name_of(value); }
std::string attribute_text(const IntList& value) { return value.to_string(); }
std::string attribute_text(const View& value) { return value.to_string(); }

namespace {
template <class Pairs, class First, class Second>
std::string pairs_text(const Pairs& pairs, First first, Second second) {
  std::string out = "[";
  for (const auto& pair : pairs)
    out += (out.size() > 1 ? ", (" : "(") + std::to_string(first(pair)) + ", " + std::to_string(second(pair)) + ")";
  return out + "]";
}
}  // namespace

std::string attribute_text(const std::vector<Interval>& value) {
  return pairs_text(
      value, [](const Interval& i) { return i.begin; }, [](const Interval& i) { return i.end; });
}
std::string attribute_text(const std::vector<Padding>& value) {
  return pairs_text(
      value, [](const Padding& p) { return p.first; }, [](const Padding& p) { return p.second; });
}

void append_attribute(std::string& list, std::string_view name, const std::string& value) {
  if (!list.empty()) list += ", ";
  list.append(name).append("=").append(value);
}

}  // namespace detail

}  // namespace weft
