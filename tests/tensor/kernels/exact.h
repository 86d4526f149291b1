// What tests of exact sums share: arrays as the references take them, and what differs after one rounding.
#pragma once

#include "tests/reference/array.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {

template <class T> reference::Array values_of(Array<T>& x) {
  return reference::build(x.shape(), [&](const reference::Index& i) { return static_cast<double>(x.at(i)); });
}

/// `x` as T holds it; 16-bit floats are made of f32.
template <class T> double rounded_to(double x) {
  if constexpr (std::is_same_v<T, double>) return x;
  return static_cast<double>(static_cast<T>(static_cast<float>(x)));
}

/// The number of elements of `got` that differ from `sums`, rounded to T.
template <class T> int differences(Array<T>& got, const reference::Array& sums) {
  int wrong = 0;
  size_t i = 0;
  for_each_index(got.shape(), [&](const IntList& index) {
    wrong += static_cast<double>(got.at(index)) != rounded_to<T>(sums.values[i++]);
  });
  return wrong;
}

}  // namespace weft::testing
