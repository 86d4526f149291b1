// Settings of tests from the environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace weft::testing {

/// The number in an environment variable.
inline int64_t setting(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoll(value, nullptr, 10) : otherwise;
}

/// WEFT_PROPERTY_DIVISOR: tests that draw cases run 1/n of them, so that slow builds end in time.
inline int64_t property_divisor() { return std::max<int64_t>(1, setting("WEFT_PROPERTY_DIVISOR", 1)); }

/// How many of `count` cases run, at least one.
inline int property_cases(int count) { return static_cast<int>(std::max<int64_t>(1, count / property_divisor())); }

}  // namespace weft::testing
