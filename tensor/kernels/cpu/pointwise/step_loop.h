// The loop of optimizer steps: f(parameter, gradient, states...) on every element, in one pass.
#pragma once

#include <cmath>
#include <concepts>
#include <utility>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

namespace weft::kernels::cpu {

inline constexpr int64_t kStepGrain = 16384;

// One row: f(param, grad, states...), all by reference but the gradient.
template <class T, class F, size_t... k>
[[gnu::flatten]] void step_rows(const void* context, char* const* p, const int64_t* step, const int64_t* row_step,
                                int64_t columns, int64_t rows, std::index_sequence<k...>) {
  const F f = *static_cast<const F*>(context);
  const bool unit = ((step[k] == sizeof(T)) && ...);
  for (int64_t row = 0; row < rows; ++row) {
    const auto run = [&](auto*... data) {
      if (unit) {
#pragma omp simd
        for (int64_t i = 0; i < columns; ++i) f(data[i]...);
      } else {
        for (int64_t i = 0; i < columns; ++i) f(data[i * step[k] / static_cast<int64_t>(sizeof(T))]...);
      }
    };
    run(reinterpret_cast<T*>(p[k] + row * row_step[k])...);
  }
}

template <class T, class F, std::same_as<Operand>... Operands> void run_step(const F& f, const Operands&... operands) {
  const Operand list[] = {operands...};
  constexpr auto rows = [](const void* context, char* const* p, const int64_t* step, const int64_t* row_step,
                           int64_t columns, int64_t count) {
    step_rows<T, F>(context, p, step, row_step, columns, count, std::index_sequence_for<Operands...>());
  };
  strided_loop(list, sizeof...(Operands), kStepGrain, rows, &f);
}

/// The gradient with `decay` times the parameter added; the gradient alone without decay, where a product with 0 would
/// make NaN of an infinite parameter.
template <bool kDecays, class T> T decayed(T gradient, [[maybe_unused]] T decay, [[maybe_unused]] T parameter) {
  if constexpr (kDecays)
    return gradient + decay * parameter;
  else
    return gradient;
}

/// f<T, kDecays>() for the parameter's type and whether weight decay is added to the gradient.
template <class F> void visit_step(DType dtype, double weight_decay, const F& f) {
  visit_precision(dtype, [&]<class T>() {
    weight_decay == 0 ? f.template operator()<T, false>() : f.template operator()<T, true>();
  });
}

/// 1 - beta^step: what a mean with decay `beta` that began with 0 is divided by.
inline double bias_correction(double beta, int64_t step) { return 1 - std::pow(beta, static_cast<double>(step)); }

}  // namespace weft::kernels::cpu
