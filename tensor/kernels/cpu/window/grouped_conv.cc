#include "tensor/kernels/cpu/window/grouped_conv.h"

#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/window/channel_walk.h"

namespace weft::kernels::cpu {
namespace {

using Lanes = simd::Vec<float>;
constexpr int kLanes = simd::kLanes<float>;
constexpr int64_t kMost = 8;  // channels of a group
static_assert(kLanes % kMost == 0);

/// Every channel of a group is multiplied with every other one by rotating registers: at step `turn`, lane `own` holds
/// the channel that this returns. Rotations within 16 bytes (four lanes) are fastest, so groups of 8 rotate each half
/// by turn % 4 and exchange the halves from step 4 on. For a group of 4 and own = 1: 1, 2, 3, 0.
constexpr int64_t rotated_channel(int64_t own, int64_t turn, int64_t group) {
  const int64_t part = std::min<int64_t>(group, 4);
  return (own / part ^ turn / part) * part + (own + turn) % part;
}
template <int kGroup, int kTurn, int... I> WEFT_SIMD Lanes rotated(Lanes v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I / kGroup * kGroup + rotated_channel(I % kGroup, kTurn, kGroup))...);
}
/// f(turn, the register after `turn` rotation steps) for every step of a group.
template <int kGroup, class F> WEFT_SIMD void each_turn(Lanes v, const F& f) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>{};
  constexpr int kPart = std::min(kGroup, 4);
  [&]<int... R>(std::integer_sequence<int, R...>) __attribute__((always_inline)) {
    (f(R, rotated<kGroup, R>(v, kAll)), ...);
    if constexpr (kGroup > kPart) {
      const Lanes others = rotated<kGroup, kPart>(v, kAll);
      (f(kPart + R, rotated<kGroup, R>(others, kAll)), ...);
    }
  }
  (std::make_integer_sequence<int, kPart>{});
}

/// The weight as factors of registers: (registers of channels, taps, turns, lanes). `to_inputs`: lanes are input
/// channels, else filters.
int64_t factors_of(const ConvShape& s) { return ceil_div(s.channels, kLanes) * kLanes * s.taps() * s.group_channels(); }
/// f(place among the factors, place in the weight).
template <class F> void each_factor(const ConvShape& s, const WeightStrides& strides, bool to_inputs, const F& f) {
  const int64_t group = s.group_channels(), taps = s.taps();
  for_each_weight_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t turn = 0; turn < group; ++turn) {
        const int64_t own = c % group, other = rotated_channel(own, turn, group), first = c - own;
        const int64_t filter = to_inputs ? first + other : c, channel = to_inputs ? own : other;
        f(((c / kLanes * taps + tap) * group + turn) * kLanes + c % kLanes,
          at + filter * strides[0] + channel * strides[1]);
      }
  });
}

/// Both directions: to(pixel) = start + the sum over the pixel's links of weight(taps) from(links), group by group.
template <int kGroup> struct GroupedSums {
  const float* from;
  const float* factors;
  const float* start;  // per channel, or null
  float* to;
  int64_t channels, taps;
  int64_t ahead, to_ahead;  // see Walk

  template <int P> void block(const Run& run, const Window& window, int64_t i, float* out) const {
    const int64_t out_step = run.to_step * channels, step = run.from_step * channels;
    const float* first = from + (run.from + i * run.from_step) * channels;
    for_lanes<float>(
        channels, [&](int64_t c, auto count) __attribute__((always_inline)) {
          Lanes sums[P];
#pragma GCC unroll 8
          for (int p = 0; p < P; ++p) sums[p] = start != nullptr ? lanes_at<float>(start + c, count) : Lanes{};
          if (!window.empty()) prefetch_pixels(first + window.back().from * channels + c + ahead, step, P);
          prefetch_pixels(out + c + to_ahead, out_step, P);
          for (const WindowLine& line : window)
            for (int64_t k = 0; k < run.taps; ++k) {
              const float* row = first + (line.from + k * run.at_step) * channels + c;
              const float* factor = factors + (c * taps + (line.tap + run.tap + k * run.tap_step) * kLanes) * kGroup;
              Lanes own[kGroup];
#pragma GCC unroll 8
              for (int r = 0; r < kGroup; ++r) own[r] = simd::load<float>(factor + r * kLanes);
#pragma GCC unroll 8
              for (int p = 0; p < P; ++p)
                each_turn<kGroup>(
                    lanes_at<float>(row + p * step, count), [&](int r, Lanes x) __attribute__((always_inline)) {
                      sums[p] += own[r] * x;
                    });
            }
#pragma GCC unroll 8
          for (int p = 0; p < P; ++p) put_lanes<float>(out + p * out_step + c, sums[p], count);
        });
  }
  void run(const Walk& walk) const {
    walk.parallel([&](const Run& run, int64_t line, const Window& window) {
      for_blocks<float>(run.count, [&]<int P>(std::integral_constant<int, P>, int64_t i) {
        block<P>(run, window, i, to + (line + run.to + i * run.to_step) * channels);
      });
    });
  }
};

/// sums (as the factors) += the products of pixels of the result's gradient with what their windows hold.
template <int kGroup> struct GroupedWeightSums {
  static constexpr int kBeside = static_cast<int>(kMost) / kGroup;  // pixels whose products wait for no other's
  const float *x, *grad;
  int64_t channels, taps;
  int64_t ahead, to_ahead;

  /// One tap of the run.
  template <class Count>
  WEFT_SIMD void tap(const Run& run, const float* row, const float* g, Count count, float* to) const {
    const int64_t g_step = run.to_step * channels, step = run.from_step * channels;
    Lanes parts[kBeside][kGroup] = {};
    const auto add = [&](int64_t p, int beside) __attribute__((always_inline)) {
      const Lanes gradient = lanes_at<float>(g + p * g_step, count);
      each_turn<kGroup>(
          lanes_at<float>(row + p * step, count), [&](int r, Lanes value) __attribute__((always_inline)) {
            parts[beside][r] += gradient * value;
          });
    };
    int64_t p = 0;
    for (; p + kBeside <= run.count; p += kBeside)
#pragma GCC unroll 8
      for (int b = 0; b < kBeside; ++b) add(p + b, b);
    for (; p < run.count; ++p) add(p, 0);
#pragma GCC unroll 8
    for (int r = 0; r < kGroup; ++r) {
      Lanes sum = simd::load<float>(to + r * kLanes);
      for (int b = 0; b < kBeside; ++b) sum += parts[b][r];
      simd::store<float>(to + r * kLanes, sum);
    }
  }
  void add(const Walk& walk, int64_t begin, int64_t end, float* sums) const {
    walk.each(begin, end, [&](const Run& run, int64_t line, const Window& window) {
      for_lanes<float>(
          channels, [&](int64_t c, auto count) __attribute__((always_inline)) {
            const float *first = x + run.from * channels + c, *g = grad + (line + run.to) * channels + c;
            if (window.empty()) return;
            prefetch_pixels(first + window.back().from * channels + ahead, run.from_step * channels, run.count);
            prefetch_pixels(g + to_ahead, run.to_step * channels, run.count);
            for (const WindowLine& in : window)
              for (int64_t k = 0; k < run.taps; ++k)
                tap(run, first + (in.from + k * run.at_step) * channels, g, count,
                    sums + (c * taps + (in.tap + run.tap + k * run.tap_step) * kLanes) * kGroup);
          });
    });
  }
};

/// f(group) with the channels of a group as a constant.
template <class F> void with_group(const ConvShape& s, const F& f) {
  switch (s.group_channels()) {
    case 2: return f(std::integral_constant<int, 2>{});
    case 4: return f(std::integral_constant<int, 4>{});
    default: return f(std::integral_constant<int, 8>{});
  }
}

void run(const ConvShape& s, const Walk& walk, bool to_inputs, const float* from, const float* weight,
         const WeightStrides& strides, const float* bias, float* to) {
  const Scratch<float> factors(factors_of(s));
  std::fill_n(factors.data(), factors_of(s), 0.0f);
  each_factor(s, strides, to_inputs, [&](int64_t factor, int64_t at) { factors.data()[factor] = weight[at]; });
  with_group(s, [&](auto group) {
    GroupedSums<group>{from, factors.data(), bias, to, s.channels, s.taps(), walk.ahead(), walk.to_ahead()}.run(walk);
  });
}

}  // namespace

bool has_narrow_groups(const ConvShape& s) {
  const int64_t group = s.group_channels();
  return s.groups > 1 && group == s.group_filters() && (group == 2 || group == 4 || group == kMost);
}

void grouped_conv(const ConvShape& s, const float* x, const float* weight, const WeightStrides& strides,
                  const float* bias, float* out) {
  run(s, to_outputs(s, sizeof(float)), false, x, weight, strides, bias, out);
}

void grouped_conv_backward_data(const ConvShape& s, const float* grad, const float* weight,
                                const WeightStrides& strides, float* grad_x) {
  run(s, to_inputs(s, sizeof(float)), true, grad, weight, strides, nullptr, grad_x);
}

void grouped_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                   const WeightStrides& strides) {
  const Walk walk = to_outputs(s, sizeof(float));
  with_group(s, [&](auto group) {
    const GroupedWeightSums<group> sums{x, grad, s.channels, s.taps(), walk.ahead(), walk.to_ahead()};
    sum_in_pieces<float>(
        s, walk.parts(), factors_of(s), [&](int64_t begin, int64_t end, float* to) { sums.add(walk, begin, end, to); },
        [&](const float* total) {
          each_factor(s, strides, false, [&](int64_t factor, int64_t at) { grad_weight[at] = total[factor]; });
        });
  });
}

}  // namespace weft::kernels::cpu
