// One step of one row of a recurrent cell, and its gradient: H features at a time, a register each.
//
// Rows are contiguous and of length G H, gate after gate: p the inputs' part, q the states' part (W h), b its bias
// (zeros where there is none). `kept` is what backward reads: i f g o of an LSTM, r z n and (W_n h + b_n) of a GRU.
#pragma once

#include <type_traits>

#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {

/// The rows of one step. `h` (and `cell`) hold the state before it and get the one after it.
template <class C> struct CellStep {
  int64_t hidden;
  const C *p, *q, *b;
  C *kept, *h, *cell;
};

template <class C> void rnn_step(const CellStep<C>& s, bool relu) {
  for_lanes<C>(
      s.hidden, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto g = lanes_at(s.p + j, count) + lanes_at(s.q + j, count) + lanes_at(s.b + j, count);
        put_lanes(s.h + j, relu ? (g < C(0) ? simd::Vec<C>{} : g) : vmath::tanh(g), count);
      });
}

/// Whether for_lanes() gives fewer lanes than a register has.
template <class Count> inline constexpr bool kIsPart = std::is_same_v<Count, int>;

/// last(j, whole register) for the whole registers of a row, after the loop that puts what it reads. It is one long
/// chain of operations: in the same loop, the CPU would not look far enough ahead to compute the next gates meanwhile.
/// Not for a part of a register, since masked stores are slow to be read again.
template <class C> WEFT_SIMD void finish_whole(int64_t length, auto&& last) {
  constexpr int kWidth = simd::kLanes<C>;
  for (int64_t j = 0; j + kWidth <= length; j += kWidth) last(j, std::integral_constant<int, kWidth>{});
}

template <class C> void lstm_step(const CellStep<C>& s) {
  const int64_t n = s.hidden;
  const auto finish = [&](int64_t j, auto count, auto o, auto c) __attribute__((always_inline)) {
    put_lanes(s.h + j, o * vmath::tanh(c), count);
  };
  for_lanes<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto gate = [&](int64_t k) __attribute__((always_inline)) {
          const int64_t at = k * n + j;
          return lanes_at(s.p + at, count) + lanes_at(s.q + at, count) + lanes_at(s.b + at, count);
        };
        const auto i = vmath::sigmoid(gate(0)), f = vmath::sigmoid(gate(1));
        const auto g = vmath::tanh(gate(2)), o = vmath::sigmoid(gate(3));
        const auto c = f * lanes_at(s.cell + j, count) + i * g;
        put_lanes(s.kept + j, i, count), put_lanes(s.kept + n + j, f, count);
        put_lanes(s.kept + 2 * n + j, g, count), put_lanes(s.kept + 3 * n + j, o, count);
        put_lanes(s.cell + j, c, count);
        if constexpr (kIsPart<decltype(count)>) finish(j, count, o, c);
      });
  finish_whole<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        finish(j, count, lanes_at(s.kept + 3 * n + j, count), lanes_at(s.cell + j, count));
      });
}

template <class C> void gru_step(const CellStep<C>& s) {
  const int64_t n = s.hidden;
  const auto finish = [&](int64_t j, auto count, auto r, auto z, auto inner) __attribute__((always_inline)) {
    const auto m = vmath::tanh(lanes_at(s.p + 2 * n + j, count) + r * inner);
    put_lanes(s.kept + 2 * n + j, m, count);
    put_lanes(s.h + j, m + z * (lanes_at(s.h + j, count) - m), count);
  };
  for_lanes<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto input = [&](int64_t k) __attribute__((always_inline)) { return lanes_at(s.p + k * n + j, count); };
        const auto state = [&](int64_t k) __attribute__((always_inline)) {
          return lanes_at(s.q + k * n + j, count) + lanes_at(s.b + k * n + j, count);
        };
        const auto r = vmath::sigmoid(input(0) + state(0)), z = vmath::sigmoid(input(1) + state(1));
        const auto inner = state(2);
        put_lanes(s.kept + j, r, count), put_lanes(s.kept + n + j, z, count);
        put_lanes(s.kept + 3 * n + j, inner, count);
        if constexpr (kIsPart<decltype(count)>) finish(j, count, r, z, inner);
      });
  finish_whole<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto kept = [&](int64_t k) __attribute__((always_inline)) { return lanes_at(s.kept + k * n + j, count); };
        finish(j, count, kept(0), kept(1), kept(3));
      });
}

/// The rows of one step's gradient. `dh` is the gradient of the state after it and gets the part of the one before it
/// that does not pass the weight; dcell likewise, all of it. dp and dq are the gradients of p and q (one memory but for
/// a GRU).
template <class C> struct CellGradient {
  int64_t hidden;
  const C *kept, *y, *h_before, *cell, *cell_before;
  C *dh, *dcell, *dp, *dq;
};

template <class C> void rnn_gradient(const CellGradient<C>& s, bool relu) {
  for_lanes<C>(
      s.hidden, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto y = lanes_at(s.y + j, count), dh = lanes_at(s.dh + j, count);
        put_lanes(s.dp + j, relu ? (y > C(0) ? dh : simd::Vec<C>{}) : dh * (C(1) - y * y), count);
        put_lanes(s.dh + j, simd::Vec<C>{}, count);
      });
}

template <class C> void lstm_gradient(const CellGradient<C>& s) {
  const int64_t n = s.hidden;
  for_lanes<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto i = lanes_at(s.kept + j, count), f = lanes_at(s.kept + n + j, count);
        const auto g = lanes_at(s.kept + 2 * n + j, count), o = lanes_at(s.kept + 3 * n + j, count);
        const auto dh = lanes_at(s.dh + j, count), t = vmath::tanh(lanes_at(s.cell + j, count));
        const auto dc = lanes_at(s.dcell + j, count) + dh * o * (C(1) - t * t);
        put_lanes(s.dp + j, dc * g * i * (C(1) - i), count);
        put_lanes(s.dp + n + j, dc * lanes_at(s.cell_before + j, count) * f * (C(1) - f), count);
        put_lanes(s.dp + 2 * n + j, dc * i * (C(1) - g * g), count);
        put_lanes(s.dp + 3 * n + j, dh * t * o * (C(1) - o), count);
        put_lanes(s.dcell + j, dc * f, count);
        put_lanes(s.dh + j, simd::Vec<C>{}, count);
      });
}

template <class C> void gru_gradient(const CellGradient<C>& s) {
  const int64_t n = s.hidden;
  for_lanes<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        const auto r = lanes_at(s.kept + j, count), z = lanes_at(s.kept + n + j, count);
        const auto m = lanes_at(s.kept + 2 * n + j, count), inner = lanes_at(s.kept + 3 * n + j, count);
        const auto dh = lanes_at(s.dh + j, count), before = lanes_at(s.h_before + j, count);
        const auto dm = dh * (C(1) - z) * (C(1) - m * m);
        const auto dr = dm * inner * r * (C(1) - r), dz = dh * (before - m) * z * (C(1) - z);
        put_lanes(s.dp + j, dr, count), put_lanes(s.dq + j, dr, count);
        put_lanes(s.dp + n + j, dz, count), put_lanes(s.dq + n + j, dz, count);
        put_lanes(s.dp + 2 * n + j, dm, count), put_lanes(s.dq + 2 * n + j, dm * r, count);
        put_lanes(s.dh + j, dh * z, count);
      });
}

}  // namespace weft::kernels::cpu
