// Element-wise functions of one tensor. Shape and memory order are kept; NaN and Inf propagate. Functions that leave the
// integers (exp, sqrt, ...) take integers too and give f32.
#pragma once

#include "tensor/apply.h"

namespace weft {

Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
/// -1, 0 or 1 (NaN for NaN); its gradient is 0.
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// log(1 + x), accurate near 0.
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
/// max(x, 0); NaN stays NaN; gradient 0 at 0.
Tensor relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// How gelu is computed: x Phi(x) by erf, or the tanh form of Hendrycks and Gimpel (arXiv 1606.08415).
enum class Gelu { exact, tanh };
/// Both forms are NaN at -inf (-inf times 0, as in PyTorch), and -0 where the factor has vanished before.
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);
/// x sigmoid(x); NaN at -inf (-inf times 0, as in PyTorch).
Tensor silu(const Tensor& x);
/// log(1 + e^x), linear where that overflows.
Tensor softplus(const Tensor& x);
Tensor erf(const Tensor& x);
/// x limited to [min, max], either may be absent. Error where min > max. NaN propagates; gradient 1 at the bounds.
Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max);
/// PyTorch's name of clip().
inline Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) { return clip(x, min, max); }

namespace op {

/// Element-wise ops that keep shape and dtype (the public functions cast integers first where needed).
template <class Self>
struct Unary {
  void attributes(auto) const {}
  bool operator==(const Unary&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
struct Neg : Unary<Neg> {
  static constexpr std::string_view name = "neg";
};
struct Abs : Unary<Abs> {
  static constexpr std::string_view name = "abs";
};
struct Sign : Unary<Sign> {
  static constexpr std::string_view name = "sign";
};
struct Square : Unary<Square> {
  static constexpr std::string_view name = "square";
};
struct Sqrt : Unary<Sqrt> {
  static constexpr std::string_view name = "sqrt";
};
struct Rsqrt : Unary<Rsqrt> {
  static constexpr std::string_view name = "rsqrt";
};
struct Reciprocal : Unary<Reciprocal> {
  static constexpr std::string_view name = "reciprocal";
};
struct Exp : Unary<Exp> {
  static constexpr std::string_view name = "exp";
};
struct Log : Unary<Log> {
  static constexpr std::string_view name = "log";
};
struct Log1p : Unary<Log1p> {
  static constexpr std::string_view name = "log1p";
};
struct Sin : Unary<Sin> {
  static constexpr std::string_view name = "sin";
};
struct Cos : Unary<Cos> {
  static constexpr std::string_view name = "cos";
};
struct Tanh : Unary<Tanh> {
  static constexpr std::string_view name = "tanh";
};
struct Sigmoid : Unary<Sigmoid> {
  static constexpr std::string_view name = "sigmoid";
};
struct Relu : Unary<Relu> {
  static constexpr std::string_view name = "relu";
};
struct Silu : Unary<Silu> {
  static constexpr std::string_view name = "silu";
};
struct Softplus : Unary<Softplus> {
  static constexpr std::string_view name = "softplus";
};
struct Erf : Unary<Erf> {
  static constexpr std::string_view name = "erf";
};

struct LeakyRelu {
  double slope;
  static constexpr std::string_view name = "leaky_relu";
  void attributes(auto visit) const { visit("slope", slope); }
  bool operator==(const LeakyRelu&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// gelu; `tanh_form` chooses the approximation.
struct GeluOp {
  bool tanh_form;
  static constexpr std::string_view name = "gelu";
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluOp&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
/// g gelu'(x) in one pass.
struct GeluBackward {
  bool tanh_form;
  static constexpr std::string_view name = "gelu_backward";
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& x) const;
  void run(const Tensor& g, const Tensor& x, Tensor& out) const;
};

/// g where y > 0 (or NaN), else 0: the gradient of relu from its result.
struct ReluBackward {
  static constexpr std::string_view name = "relu_backward";
  void attributes(auto) const {}
  bool operator==(const ReluBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& y) const;
  void run(const Tensor& g, const Tensor& y, Tensor& out) const;
};

struct Clip {
  std::optional<Scalar> min;
  std::optional<Scalar> max;
  static constexpr std::string_view name = "clip";
  void attributes(auto visit) const { visit("min", min), visit("max", max); }
  bool operator==(const Clip&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

}  // namespace op

/// g where y > 0, else 0; see op::ReluBackward. Shapes and dtypes are equal.
Tensor relu_backward(const Tensor& g, const Tensor& y);
/// g times the derivative of gelu at x. Shapes and dtypes are equal.
Tensor gelu_backward(const Tensor& g, const Tensor& x, Gelu form);

}  // namespace weft
