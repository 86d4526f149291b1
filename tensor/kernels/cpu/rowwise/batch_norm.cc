#include "tensor/ops/batch_norm.h"

#include <cmath>

#include "tensor/kernels/cpu/loops/channel_loop.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/reduce/moments.h"
#include "tensor/kernels/cpu/rowwise/batch_norm.h"
#include "tensor/kernels/cpu/rowwise/channel_sums.h"

namespace weft::kernels::cpu {
namespace {

/// y = ((x - mean) - what float(mean) lost) * scale + shift.
struct Normalize {
  template <class V> static V apply(const std::array<V, 1>& x, const std::array<V, kChannelCoefficients>& c) {
    return ((x[0] - c[0]) - c[1]) * c[2] + c[3];
  }
};

/// relu of it; NaN stays.
struct NormalizeRelu {
  template <class V> static V apply(const std::array<V, 1>& x, const std::array<V, kChannelCoefficients>& c) {
    const V y = Normalize::apply(x, c);
    return y < V{} ? V{} : y;
  }
};

/// dx = ((g - mean(g)) - (x - mean) * slope) * scale.
struct InputGradient {
  template <class V> static V apply(const std::array<V, 2>& x, const std::array<V, kChannelCoefficients>& c) {
    return ((x[0] - c[0]) - (x[1] - c[1]) * c[2]) * c[3];
  }
};

/// The same where g passed a relu of y = (x - mean) * scale + shift.
struct InputGradientRelu {
  template <class V> static V apply(const std::array<V, 2>& x, const std::array<V, kChannelCoefficients>& c) {
    const V centered = x[1] - c[1], y = centered * c[3] + c[4];
    return (((y <= V{} ? V{} : x[0]) - c[0]) - centered * c[2]) * c[3];
  }
};

/// Coefficients in double, handed to loops as C.
template <class C> class CoefficientTable {
 public:
  explicit CoefficientTable(int64_t channels) : channels_(channels), values_(channels * kChannelCoefficients) {}
  void set(int64_t channel, double a, double b, double c, double d, double e = 0) {
    const double all[] = {a, b, c, d, e};
    for (int64_t k = 0; k < kChannelCoefficients; ++k) values_.data()[k * channels_ + channel] = static_cast<C>(all[k]);
  }
  ChannelCoefficients<C> pointers() const {
    const C* p = values_.data();
    return {p, p + channels_, p + 2 * channels_, p + 3 * channels_, p + 4 * channels_};
  }

 private:
  int64_t channels_;
  Scratch<C> values_;
};

template <class T>
void normalize(const Operand& x, const double* mean, const double* rstd, const Operand& weight, const Operand& bias,
               bool relu, const Operand& y) {
  using C = Compute<T>;
  const int64_t channels = x.size(1);
  const SmallOperand<double> w(weight, channels, 1), b(bias, channels, 0);
  CoefficientTable<C> table(channels);
  for (int64_t c = 0; c < channels; ++c) {
    const double lost = mean[c] - static_cast<double>(static_cast<C>(mean[c]));
    table.set(c, mean[c], std::isfinite(lost) ? lost : 0, rstd[c] * w[c], b[c]);
  }
  if (relu)
    channel_loop<NormalizeRelu, 1, T>({x, y}, table.pointers());
  else
    channel_loop<Normalize, 1, T>({x, y}, table.pointers());
}

}  // namespace

BatchStatistics::BatchStatistics(const Operand& x, double eps) : mean(x.size(1)), var(x.size(1)), rstd(x.size(1)) {
  // A reduction over all axes but 1, its result (1, C, 1, ...).
  const int64_t channels = x.size(1);
  Shape kept = IntList::filled(static_cast<size_t>(x.rank()), 1);
  Strides strides = IntList::filled(static_cast<size_t>(x.rank()), channels);
  kept[1] = channels;
  strides[1] = 1;
  IntList axes{0};
  for (int64_t i = 2; i < x.rank(); ++i) axes.push_back(i);
  const View view = View::create(kept, strides);
  const ReducePlan plan = plan_reduction(x, axes, {mean.data(), &view, DType::f64});
  visit_floating(x.dtype, [&]<class T>() {
    reduce(plan, static_cast<const T*>(x.base), MomentsPolicy<T>{},
           [&](int64_t offset, int64_t step, const Moments* moments, int64_t count) {
             for (int64_t i = 0, c = plan.out_offset + offset; i < count; ++i, c += step) {
               mean.data()[c] = moments[i].mean;
               var.data()[c] = moments[i].variance(0);
               rstd.data()[c] = 1.0 / std::sqrt(var.data()[c] + eps);
             }
           });
  });
}

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::BatchNorm::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y,
                        const Operand& mean, const Operand& rstd, const Operand& var) const {
  const BatchStatistics found(x, eps);
  visit_floating(x.dtype,
                 [&]<class T>() { normalize<T>(x, found.mean.data(), found.rstd.data(), weight, bias, relu, y); });
  write_small(found.mean.data(), mean);
  write_small(found.rstd.data(), rstd);
  write_small(found.var.data(), var);
}

void op::BatchNormInference::cpu(const Operand& x, const Operand& mean, const Operand& var, const Operand& weight,
                                 const Operand& bias, const Operand& out) const {
  const int64_t channels = x.size(1);
  const SmallOperand<double> means(mean, channels, 0), variances(var, channels, 1);
  const Scratch<double> rstds(channels);
  for (int64_t c = 0; c < channels; ++c) rstds.data()[c] = 1.0 / std::sqrt(variances[c] + eps);
  visit_floating(x.dtype, [&]<class T>() { normalize<T>(x, means.data(), rstds.data(), weight, bias, relu, out); });
}

void op::BatchNormBackward::cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& bias,
                                const Operand& mean, const Operand& rstd, const Operand& dx, const Operand& dweight,
                                const Operand& dbias) const {
  const int64_t channels = x.size(1);
  if (channels == 0) return;
  const SmallOperand<double> means(mean, channels, 0), rstds(rstd, channels, 1), w(weight, channels, 1),
      shift(bias, channels, 0);
  const Scratch<double> sums(channels), dots(channels), scale(channels);
  for (int64_t c = 0; c < channels; ++c) scale.data()[c] = rstds[c] * w[c];
  const ChannelGate gate{scale.data(), shift.data()};
  channel_sums(g, x, means.data(), relu ? &gate : nullptr, sums.data(), dots.data());
  if (wanted & 1)
    visit_floating(x.dtype, [&]<class T>() {
      const double count = static_cast<double>(x.numel() / channels);
      CoefficientTable<Compute<T>> table(channels);
      for (int64_t c = 0; c < channels; ++c) {
        const double slope = rstds[c] * rstds[c] * dots.data()[c] / count;
        table.set(c, sums.data()[c] / count, means[c], slope, scale.data()[c], shift[c]);
      }
      if (relu)
        channel_loop<InputGradientRelu, 2, T>({g, x, dx}, table.pointers());
      else
        channel_loop<InputGradient, 2, T>({g, x, dx}, table.pointers());
    });
  if (wanted & 4) write_small(sums.data(), dbias);
  const bool empty = x.numel() == 0;  // the statistics are NaN, the sums 0
  for (int64_t c = 0; c < channels; ++c) dots.data()[c] *= empty ? 1 : rstds[c];
  if (wanted & 2) write_small(dots.data(), dweight);
}

}  // namespace weft
