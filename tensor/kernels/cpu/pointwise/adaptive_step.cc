#include "tensor/ops/adaptive_step.h"

#include <cmath>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/pointwise/step_loop.h"

namespace weft::kernels::cpu {
namespace {

template <class T, bool kDecays> struct Adagrad {
  T rate, eps, weight_decay;
  void operator()(T& p, const T& grad, T& sum) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    sum += g * g;
    p -= rate * (g / (std::sqrt(sum) + eps));
  }
};

template <class T, bool kDecays> struct Adadelta {
  T lr, rho, fresh, eps, weight_decay;
  void operator()(T& p, const T& grad, T& square, T& change) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    square = rho * square + fresh * g * g;
    const T d = std::sqrt(change + eps) / std::sqrt(square + eps) * g;
    change = rho * change + fresh * d * d;
    p -= lr * d;
  }
};

template <class T, bool kDecays> struct Adamax {
  T rate, fresh1, beta2, eps, weight_decay;
  void operator()(T& p, const T& grad, T& average, T& largest) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    average += fresh1 * (g - average);
    largest = nan_max(beta2 * largest, std::abs(g) + eps);
    p -= rate * (average / largest);
  }
};

/// The mean and the mean square of NAdam and RAdam.
template <class T, bool kDecays> struct Moments {
  T fresh1, beta2, fresh2, shrink, weight_decay;
  explicit Moments(const auto& o)
      : fresh1(static_cast<T>(1 - o.beta1)),
        beta2(static_cast<T>(o.beta2)),
        fresh2(static_cast<T>(1 - o.beta2)),
        shrink(static_cast<T>(o.decoupled_weight_decay ? 1 - o.lr * o.weight_decay : 1.0)),
        weight_decay(static_cast<T>(o.weight_decay)) {}
  /// Decays p, and returns the gradient.
  T update(T& p, T grad, T& average, T& square) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    p *= shrink;
    average += fresh1 * (g - average);
    square = beta2 * square + fresh2 * g * g;
    return g;
  }
};

template <class T, bool kDecays> struct NAdam {
  Moments<T, kDecays> moments;
  T gradient_rate, average_rate, root_correction, eps;
  void operator()(T& p, const T& grad, T& average, T& square) const {
    const T g = moments.update(p, grad, average, square);
    p -= (gradient_rate * g + average_rate * average) / (std::sqrt(square) / root_correction + eps);
  }
};

template <class T, bool kDecays> struct RAdam {
  Moments<T, kDecays> moments;
  T rate, eps;
  void operator()(T& p, const T& grad, T& average, T& square) const {
    moments.update(p, grad, average, square);
    p -= rate * (average / (std::sqrt(square) + eps));
  }
};

/// RAdam while the variance of its rate is unknown.
template <class T, bool kDecays> struct RAdamWarmup {
  Moments<T, kDecays> moments;
  T rate;
  void operator()(T& p, const T& grad, T& average, T& square) const {
    moments.update(p, grad, average, square);
    p -= rate * average;
  }
};

template <class T> struct Lion {
  T lr, beta1, fresh1, beta2, fresh2, shrink;
  void operator()(T& p, const T& g, T& average) const {
    const T mixed = beta1 * average + fresh1 * g;
    const T sign = mixed > 0 ? T(1) : mixed < 0 ? T(-1) : mixed;
    p = shrink * p - lr * sign;
    average = beta2 * average + fresh2 * g;
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::AdagradStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& sum) const {
  const double rate = lr / (1 + static_cast<double>(step - 1) * lr_decay);
  visit_step(parameter.dtype, weight_decay, [&]<class T, bool kDecays>() {
    run_step<T>(Adagrad<T, kDecays>{static_cast<T>(rate), static_cast<T>(eps), static_cast<T>(weight_decay)}, parameter,
                gradient, sum);
  });
}

void op::AdadeltaStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& square,
                           const Operand& change) const {
  visit_step(parameter.dtype, weight_decay, [&]<class T, bool kDecays>() {
    const Adadelta<T, kDecays> adadelta{static_cast<T>(lr), static_cast<T>(rho), static_cast<T>(1 - rho),
                                        static_cast<T>(eps), static_cast<T>(weight_decay)};
    run_step<T>(adadelta, parameter, gradient, square, change);
  });
}

void op::AdamaxStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& average,
                         const Operand& largest) const {
  const double rate = lr / bias_correction(beta1, step);
  visit_step(parameter.dtype, weight_decay, [&]<class T, bool kDecays>() {
    const Adamax<T, kDecays> adamax{static_cast<T>(rate), static_cast<T>(1 - beta1), static_cast<T>(beta2),
                                    static_cast<T>(eps), static_cast<T>(weight_decay)};
    run_step<T>(adamax, parameter, gradient, average, largest);
  });
}

void op::NAdamStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& average,
                        const Operand& square) const {
  const auto momentum = [&](int64_t t) {
    return beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * momentum_decay));
  };
  const double now = momentum(step), next = momentum(step + 1);
  visit_step(parameter.dtype, decoupled_weight_decay ? 0 : weight_decay, [&]<class T, bool kDecays>() {
    const NAdam<T, kDecays> nadam{.moments = Moments<T, kDecays>(*this),
                                  .gradient_rate = static_cast<T>(lr * (1 - now) / (1 - product)),
                                  .average_rate = static_cast<T>(lr * next / (1 - product * next)),
                                  .root_correction = static_cast<T>(std::sqrt(bias_correction(beta2, step))),
                                  .eps = static_cast<T>(eps)};
    run_step<T>(nadam, parameter, gradient, average, square);
  });
}

void op::RAdamStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& average,
                        const Operand& square) const {
  const double correction2 = bias_correction(beta2, step), limit = 2 / (1 - beta2) - 1;
  const double length = limit - 2 * static_cast<double>(step) * (1 - correction2) / correction2;
  const double rate = lr / bias_correction(beta1, step);
  const double rectified =
      std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length) * correction2);
  visit_step(parameter.dtype, decoupled_weight_decay ? 0 : weight_decay, [&]<class T, bool kDecays>() {
    const Moments<T, kDecays> moments(*this);
    if (length > 5)
      run_step<T>(RAdam<T, kDecays>{moments, static_cast<T>(rate * rectified), static_cast<T>(eps)}, parameter,
                  gradient, average, square);
    else
      run_step<T>(RAdamWarmup<T, kDecays>{moments, static_cast<T>(rate)}, parameter, gradient, average, square);
  });
}

void op::LionStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& average) const {
  visit_precision(parameter.dtype, [&]<class T>() {
    const Lion<T> lion{static_cast<T>(lr),    static_cast<T>(beta1),     static_cast<T>(1 - beta1),
                       static_cast<T>(beta2), static_cast<T>(1 - beta2), static_cast<T>(1 - lr * weight_decay)};
    run_step<T>(lion, parameter, gradient, average);
  });
}

}  // namespace weft
