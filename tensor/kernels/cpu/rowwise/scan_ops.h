// What scans keep of the elements before: step(state, i, values...) takes element i, value(state) is the result there.
#pragma once

#include <algorithm>
#include <cmath>

#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

template <class T> struct SumScan {
  using State = SumType<T>;
  static State start() { return State(0); }
  static void step(State& state, int64_t, Compute<T> x) { state += static_cast<State>(x); }
  static State value(const State& state) { return state; }
};

template <class T> struct ProductScan {
  using State = SumType<T>;
  static State start() { return State(1); }
  static void step(State& state, int64_t, Compute<T> x) { state *= static_cast<State>(x); }
  static State value(const State& state) { return state; }
};

template <class T> struct RecurrenceScan {
  using State = double;
  static State start() { return 0; }
  static void step(State& state, int64_t i, Compute<T> a, Compute<T> b) {
    state = (i == 0 ? 0.0 : static_cast<double>(a) * state) + static_cast<double>(b);
  }
  static State value(const State& state) { return state; }
};

/// top: the largest so far, sum: that of exp(x - top); nothing is summed where top is not finite.
template <class T> struct LogSumScan {
  struct State {
    double top;
    double sum;
  };
  static State start() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static void step(State& state, int64_t, Compute<T> value) {
    const double x = static_cast<double>(value);
    if (x <= state.top) {
      if (std::isfinite(state.top)) state.sum += std::exp(x - state.top);
    } else if (!std::isnan(state.top)) {
      state.sum = std::isfinite(state.top) && std::isfinite(x) ? state.sum * std::exp(state.top - x) + 1 : 1;
      state.top = x;
    }
  }
  static double value(const State& state) {
    return std::isfinite(state.top) ? state.top + std::log(state.sum) : state.top;
  }
};

/// The last of equals; a NaN wins over everything before it.
template <class T, bool kLargest> struct ExtremeScan {
  using V = CompareType<T>;
  struct State {
    V value;
    int64_t position;
  };
  /// From a value that every element takes the place of.
  static State start() { return {ExtremeOp<T, kLargest>::template identity<V>(), 0}; }
  /// Whether x takes the place of `before`.
  static bool takes(V before, Compute<T> value) {
    const V x = static_cast<V>(value);
    const bool beats = kLargest ? x >= before : x <= before;  // false where either is NaN
    return beats | (x != x);
  }
  static void step(State& state, int64_t i, Compute<T> value) {
    const V x = static_cast<V>(value);
    // Every element takes the place of start(); but without `i == 0`, g++ 12 takes twice the time for i32 in registers.
    const bool take = (i == 0) | takes(state.value, value);
    state.value = take ? x : state.value;
    state.position = take ? i : state.position;
  }
  /// The same for a line by itself, in integers without a branch, which equal values make hard to predict.
  static void step_alone(State& state, int64_t i, Compute<T> value) {
    if constexpr (std::is_integral_v<V>) {
      const V x = static_cast<V>(value);
      const int64_t place = i * static_cast<int64_t>(takes(state.value, value));  // a choice would become a branch
      state.value = kLargest ? std::max(state.value, x) : std::min(state.value, x);
      state.position = std::max(state.position, place);
    } else {
      step(state, i, value);
    }
  }
  static V value(const State& state) { return state.value; }
};

}  // namespace weft::kernels::cpu
