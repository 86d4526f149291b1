// What tests of reductions and normalizations share: arrays of random values, the same as the references take them, and
// runs with several thread counts.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tensor/core/error.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/array.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {

/// Values around `mean` with deviation `scale`, for integers whole numbers from -4 to 4.
inline AnyArray random_values(const Shape& shape, DType dtype, Layout layout, Random& random, double scale = 1,
                              double mean = 0) {
  AnyArray array(shape, dtype, layout, random);
  std::normal_distribution<double> normal(mean, scale);
  return array.fill([&] {
    return is_floating(dtype) ? normal(random)
                              : static_cast<double>(pick(random, is_integer(dtype) && dtype != u8 ? -4 : 0, 4));
  });
}

/// `shape` with size 1 at `axes`.
inline Shape kept_shape(Shape shape, const IntList& axes) {
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
  return shape;
}

/// The elements of `x`, which is absent where it is not `given`.
inline reference::Array values_of(const AnyArray& x, bool given = true) {
  reference::Array out = reference::build(x.shape(), [&](const reference::Index& i) { return x.get(i); });
  out.absent = !given;
  return out;
}

/// f of the elements of `x` along `axes`, which are kept.
inline reference::Array reduced(const AnyArray& x, const IntList& axes,
                                const std::function<double(const reference::Row&)>& f) {
  std::vector<bool> flags(x.shape().size(), false);
  for (int64_t axis : axes) flags[static_cast<size_t>(axis)] = true;
  return reference::reduced(values_of(x), flags, true, f);
}

/// Runs f with 1, 2 and 3 threads; the memory of what it returns must be the same.
template <class F> void expect_same_bits_for_threads(const F& f) {
  const int before = num_threads();
  set_num_threads(1);
  const auto want = f();
  for (int threads : {2, 3}) {
    set_num_threads(threads);
    EXPECT_TRUE(f() == want) << threads << " threads";
  }
  set_num_threads(before);
}

inline std::string describe(const AnyArray& x) { return text(x.dtype, " ", x.shape(), " strides ", x.view.strides()); }

/// Every element of `got` is that of `want` up to the precision of its dtype, times `slack`.
inline void expect_all_close(const AnyArray& got, const reference::Array& want, double slack, double absolute,
                             const std::string& what) {
  int shown = 0;
  size_t place = 0;
  ASSERT_EQ(static_cast<size_t>(checked_numel(got.shape())), want.values.size()) << what;
  for_each_index(got.shape(), [&](const IntList& index) {
    const double expected = want.values[place++], value = got.get(index);
    if (close(value, expected, slack * precision_of(got.dtype), absolute * precision_of(got.dtype)) || ++shown > 3)
      return;
    ADD_FAILURE() << what << " at " << index.to_string() << ": " << value << ", want " << expected;
  });
}

}  // namespace weft::testing
