// Whole derivatives: jacobian and hessian, and products with a Hessian that never form it.
#pragma once

#include <utility>
#include <vector>

#include "autograd/transforms/derivative.h"

namespace weft {

/// Options of jacobian() and hessian().
struct JacobianOptions {
  /// Rows that one backward computes at once, by vmap over it: memory grows with it. 0: all of them.
  int64_t rows_at_once = 0;
};

namespace autograd {
/// Of each output of `f` one Jacobian per argument. `name` is the transform, for errors.
std::vector<Tensors> jacobians_of(const char* name, const ManyToMany& f, const Tensors& x,
                                  const JacobianOptions& options);
Tensors hessian_product_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v);
/// The gradient of a function that gives one number, as a function.
ManyToMany gradient_of(const char* name, const ManyToMany& f);
}  // namespace autograd

/// d f(x) / d x, of shape f(x).shape() + x.shape(), in reverse mode: a forward, and a backward for all rows at once.
/// Zeros where f(x) does not depend on x. DtypeError unless x is floating.
template <TensorFunction F> Tensor jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  return autograd::jacobians_of("jacobian", autograd::many_to_many(f), {x}, options)[0][0];
}
/// The same of an f that gives a list: one Jacobian for each output.
template <TensorToTensors F> std::vector<Tensor> jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  std::vector<Tensor> out;
  for (auto& of_output : autograd::jacobians_of("jacobian", autograd::many_to_many(f), {x}, options))
    out.push_back(std::move(of_output[0]));
  return out;
}
/// The same of several arguments: one Jacobian for each, or, where f gives a list, [output][argument], each of shape
/// output.shape() + argument.shape().
template <TensorsFunction F> auto jacobian(F&& f, const std::vector<Tensor>& x, const JacobianOptions& options = {}) {
  auto all = autograd::jacobians_of("jacobian", autograd::many_to_many(f), x, options);
  if constexpr (std::convertible_to<decltype(f(x)), Tensor>)
    return std::move(all[0]);
  else
    return all;
}

/// The second derivatives of an f that gives one number, of shape x.shape() + x.shape(): the Jacobian of the gradient.
/// ShapeError where f gives more than one element.
template <TensorFunction F> Tensor hessian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  const auto gradient = autograd::gradient_of("hessian", autograd::many_to_many(f));
  return autograd::jacobians_of("hessian", gradient, {x}, options)[0][0];
}
/// The same of several arguments: the blocks of the Hessian. [i][j] has the derivatives by x[i] and then x[j], of shape
/// x[i].shape() + x[j].shape(), and is the transpose of [j][i].
template <TensorsFunction F>
std::vector<std::vector<Tensor>> hessian(F&& f, const std::vector<Tensor>& x, const JacobianOptions& options = {}) {
  const auto gradient = autograd::gradient_of("hessian", autograd::many_to_many(f));
  return autograd::jacobians_of("hessian", gradient, x, options);
}

/// H v, H being the Hessian of an f that gives one number, v of x's shape: the gradient of v^T (gradient of f). About 4
/// times the cost of f. ShapeError where f gives more than one element or v has another shape.
template <TensorFunction F> Tensor hvp(F&& f, const Tensor& x, const Tensor& v) {
  return autograd::hessian_product_of("hvp", autograd::many_to_many(f), {x}, {v})[0];
}
/// The same for several arguments: the blocks of H v.
template <TensorsFunction F>
std::vector<Tensor> hvp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::hessian_product_of("hvp", autograd::many_to_many(f), x, v);
}
/// v^T H: the same numbers as hvp, as H is symmetric.
template <TensorFunction F> Tensor vhp(F&& f, const Tensor& x, const Tensor& v) {
  return autograd::hessian_product_of("vhp", autograd::many_to_many(f), {x}, {v})[0];
}
template <TensorsFunction F>
std::vector<Tensor> vhp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::hessian_product_of("vhp", autograd::many_to_many(f), x, v);
}

}  // namespace weft
