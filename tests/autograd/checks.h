// What the engine's tests share: a fixture that finds leaks, texts of errors, gradients as numbers.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "autograd/node.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tensor/result.h"
#include "tests/error_of.h"

namespace weft::testing {

/// Every test leaves as many bytes and objects alive as it found.
class NoLeaks : public ::testing::Test {
 protected:
  void SetUp() override {
    manual_seed(0);
    bytes_ = memory_stats().live_bytes;
    objects_ = detail::live_objects();
  }
  void TearDown() override {
    EXPECT_EQ(memory_stats().live_bytes, bytes_) << "tensor memory is still held";
    EXPECT_EQ(detail::live_objects(), objects_) << "tensors or nodes are still alive";
  }

 private:
  int64_t bytes_ = 0;
  int64_t objects_ = 0;
};

using Numbers = std::vector<double>;

inline Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

/// A parameter in f64.
inline Tensor leaf(std::initializer_list<double> values) { return parameter(tensor(values, f64)); }

/// The text of the E that `f` must throw.
template <class E, class F> std::string error_as(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const Error& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// The history of `x`.
inline const autograd::Node& node(const Tensor& x) { return *autograd::node_of(x); }

}  // namespace weft::testing
