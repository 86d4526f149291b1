// Golden values: numbers by name, as the headers that tests/golden/ makes hold them.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace weft::testing {

/// Constant data: a map of the same size would take the compiler minutes.
struct GoldenEntry {
  const char* name;
  std::initializer_list<double> numbers;
};

using GoldenValues = std::map<std::string, std::vector<double>>;

inline GoldenValues golden_values(std::span<const GoldenEntry> entries) {
  GoldenValues out;
  for (const GoldenEntry& entry : entries) out[entry.name] = entry.numbers;
  return out;
}

}  // namespace weft::testing
