// Inputs by formula, so that golden values need no files: tests/golden/golden.py makes the same ones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tensor/functions/fill.h"
#include "tensor/tensor.h"

namespace weft::testing {

/// scale * sin(0.7 i + phase) in row-major order, f64.
inline Tensor wave(const Shape& shape, double phase, double scale = 1.0) {
  std::vector<double> values(static_cast<size_t>(checked_numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = scale * std::sin(0.7 * static_cast<double>(i) + phase);
  return from_vector(values, shape, f64);
}

/// The sum, and the sum against weights that no permutation keeps.
inline std::vector<double> digest(const Tensor& tensor) {
  double sum = 0, weighted = 0;
  const std::vector<double> values = tensor.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    weighted += values[i] * std::sin(1.3 * static_cast<double>(i) + 0.5);
  }
  return {sum, weighted};
}

/// |actual - expected| <= tolerance (1 + |expected|), number by number.
inline void expect_numbers(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                           const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << what << ", number " << i;
}

}  // namespace weft::testing
