#include <cmath>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/pointwise/step_loop.h"
#include "tensor/ops/optimizer_step.h"

namespace weft::kernels::cpu {
namespace {

template <class T, bool kDecays> struct Sgd {
  T lr, momentum, fresh, weight_decay;  // fresh: the gradient's share of the buffer
  bool nesterov;
  void operator()(T& p, const T& g) const { p -= lr * decayed<kDecays>(g, weight_decay, p); }
  void operator()(T& p, const T& grad, T& buffer) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    buffer = momentum * buffer + fresh * g;
    p -= lr * (nesterov ? g + momentum * buffer : buffer);
  }
};

// The buffer holds nothing yet (not even zeros that NaN could survive in).
template <class T, bool kDecays> struct SgdFirst {
  Sgd<T, kDecays> sgd;
  void operator()(T& p, const T& grad, T& buffer) const {
    const T g = decayed<kDecays>(grad, sgd.weight_decay, p);
    buffer = g;
    p -= sgd.lr * (sgd.nesterov ? g + sgd.momentum * g : g);
  }
};

template <class T, bool kDecays> struct Adam {
  T rate, fresh1, beta2, fresh2, root_correction, eps, shrink, weight_decay;
  void operator()(T& p, const T& grad, T& average, T& square) const { step(p, grad, average, square, nullptr); }
  void operator()(T& p, const T& grad, T& average, T& square, T& largest) const {
    step(p, grad, average, square, &largest);
  }
  void step(T& p, const T& grad, T& average, T& square, T* largest) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    const T shrunk = p * shrink;
    average += fresh1 * (g - average);
    square = beta2 * square + fresh2 * g * g;
    if (largest != nullptr) *largest = nan_max(*largest, square);
    p = shrunk - rate * (average / (std::sqrt(largest != nullptr ? *largest : square) / root_correction + eps));
  }
};

template <class T, bool kDecays, bool has_buffer, bool has_average> struct Rmsprop {
  T lr, alpha, fresh, eps, weight_decay, momentum;
  T scaled(T g, T& square, T mean) const {
    square = alpha * square + fresh * g * g;
    // Both terms are rounded: of gradients that are all the same, the difference may lie below 0.
    const T variance = square - mean * mean, kept = has_average && variance < 0 ? T(0) : variance;
    return g / (std::sqrt(kept) + eps);
  }
  void operator()(T& p, const T& grad, T& square) const {
    p -= lr * scaled(decayed<kDecays>(grad, weight_decay, p), square, T(0));
  }
  void operator()(T& p, const T& grad, T& square, T& state) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    if constexpr (has_average) {
      state += fresh * (g - state);
      p -= lr * scaled(g, square, state);
    } else {
      state = momentum * state + scaled(g, square, T(0));
      p -= lr * state;
    }
  }
  void operator()(T& p, const T& grad, T& square, T& buffer, T& average) const {
    const T g = decayed<kDecays>(grad, weight_decay, p);
    average += fresh * (g - average);
    buffer = momentum * buffer + scaled(g, square, average);
    p -= lr * buffer;
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::SgdStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& buffer) const {
  visit_step(parameter.dtype, weight_decay, [&]<class T, bool kDecays>() {
    const Sgd<T, kDecays> sgd{static_cast<T>(lr), static_cast<T>(momentum), static_cast<T>(1 - dampening),
                              static_cast<T>(weight_decay), nesterov};
    if (!buffer.defined())
      run_step<T>(sgd, parameter, gradient);
    else if (first)
      run_step<T>(SgdFirst<T, kDecays>{sgd}, parameter, gradient, buffer);
    else
      run_step<T>(sgd, parameter, gradient, buffer);
  });
}

void op::AdamStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square,
                       const Operand& largest) const {
  const double correction1 = bias_correction(beta1, step), correction2 = bias_correction(beta2, step);
  visit_step(parameter.dtype, decoupled ? 0 : weight_decay, [&]<class T, bool kDecays>() {
    const Adam<T, kDecays> adam{.rate = static_cast<T>(lr / correction1),
                                .fresh1 = static_cast<T>(1 - beta1),
                                .beta2 = static_cast<T>(beta2),
                                .fresh2 = static_cast<T>(1 - beta2),
                                .root_correction = static_cast<T>(std::sqrt(correction2)),
                                .eps = static_cast<T>(eps),
                                .shrink = static_cast<T>(decoupled ? 1 - lr * weight_decay : 1.0),
                                .weight_decay = static_cast<T>(weight_decay)};
    if (largest.defined())
      run_step<T>(adam, parameter, gradient, average, square, largest);
    else
      run_step<T>(adam, parameter, gradient, average, square);
  });
}

void op::RmspropStep::cpu(const Operand& parameter, const Operand& gradient, const Operand& square,
                          const Operand& buffer, const Operand& average) const {
  visit_step(parameter.dtype, weight_decay, [&]<class T, bool kDecays>() {
    const auto make = [&]<bool has_buffer, bool has_average>() {
      return Rmsprop<T, kDecays, has_buffer, has_average>{static_cast<T>(lr),           static_cast<T>(alpha),
                                                          static_cast<T>(1 - alpha),    static_cast<T>(eps),
                                                          static_cast<T>(weight_decay), static_cast<T>(momentum)};
    };
    if (buffer.defined() && average.defined())
      run_step<T>(make.template operator()<true, true>(), parameter, gradient, square, buffer, average);
    else if (buffer.defined())
      run_step<T>(make.template operator()<true, false>(), parameter, gradient, square, buffer);
    else if (average.defined())
      run_step<T>(make.template operator()<false, true>(), parameter, gradient, square, average);
    else
      run_step<T>(make.template operator()<false, false>(), parameter, gradient, square);
  });
}

}  // namespace weft
