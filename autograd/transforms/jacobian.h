// jacobian and hessian, and products with a Hessian that do not compute the whole Hessian.
#pragma once

#include <utility>
#include <vector>

#include "autograd/transforms/derivative.h"

namespace weft {

/// Options of jacobian() and hessian().
struct JacobianOptions {
  /// The number of rows that one backward computes, by vmap over the rows. More rows need more memory. 0: all rows.
  /// 1: each row by itself, without vmap, for the backward of a Function that reads values.
  int64_t rows_at_once = 0;
};

namespace autograd {
/// The Jacobians of `f` as [output][argument]. `name` is the transform that errors name.
std::vector<Tensors> jacobians_of(const char* name, const ManyToMany& f, const Tensors& x,
                                  const JacobianOptions& options, const std::vector<Tensor*>& aux = {});
Tensors hessian_product_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v);
/// The gradient of a function with a single-element result, as a function.
ManyToMany gradient_of(const char* name, const ManyToMany& f);
}  // namespace autograd

/// The Jacobian d f(x) / d x, of shape f(x).shape() + x.shape(). Computed in reverse mode: one forward, and one
/// backward for all rows (see JacobianOptions). Zeros if f(x) does not depend on x. DtypeError unless x is floating.
template <TensorToTensor F> Tensor jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  return autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", f), {x}, options)[0][0];
}
/// The same for an f that returns a list: one Jacobian for each output.
template <TensorToTensors F> std::vector<Tensor> jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  std::vector<Tensor> out;
  for (auto& of_output : autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", f), {x}, options))
    out.push_back(std::move(of_output[0]));
  return out;
}
/// The same for several arguments: one Jacobian for each argument, or if f returns a list, [output][argument]. Each has
/// shape output.shape() + argument.shape().
template <TensorsFunction F> auto jacobian(F&& f, const std::vector<Tensor>& x, const JacobianOptions& options = {}) {
  auto all = autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", f), x, options);
  if constexpr (std::convertible_to<decltype(f(x)), Tensor>)
    return std::move(all[0]);
  else
    return all;
}

template <class Jacobian, class Aux> struct JacobianAndAux {
  Jacobian jacobian;
  Aux aux;
};
/// The same for a function that gives a second result (derivative.h).
template <TensorWithAux F> auto jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  auto main = autograd::without_aux<Tensor>("jacobian", f);
  auto all = autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", main), {x}, options, main.tensors());
  return JacobianAndAux<Tensor, typename decltype(main)::Aux>{std::move(all[0][0]), main.aux()};
}
template <class F>
  requires(GivesAux<F, Tensor> && !TensorWithAux<F>)
auto jacobian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  auto main = autograd::without_aux<Tensor>("jacobian", f);
  autograd::Tensors out;
  for (auto& of_output :
       autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", main), {x}, options, main.tensors()))
    out.push_back(std::move(of_output[0]));
  return JacobianAndAux<autograd::Tensors, typename decltype(main)::Aux>{std::move(out), main.aux()};
}
template <TensorsWithAux F> auto jacobian(F&& f, const std::vector<Tensor>& x, const JacobianOptions& options = {}) {
  auto main = autograd::without_aux<autograd::Tensors>("jacobian", f);
  auto all = autograd::jacobians_of("jacobian", autograd::many_to_many("jacobian", main), x, options, main.tensors());
  if constexpr (std::convertible_to<decltype(main(x)), Tensor>)
    return JacobianAndAux<autograd::Tensors, typename decltype(main)::Aux>{std::move(all[0]), main.aux()};
  else
    return JacobianAndAux<std::vector<autograd::Tensors>, typename decltype(main)::Aux>{std::move(all), main.aux()};
}

/// The Hessian of an f with a single-element result, of shape x.shape() + x.shape(): the Jacobian of the gradient.
/// ShapeError if f returns more than one element.
template <TensorToTensor F> Tensor hessian(F&& f, const Tensor& x, const JacobianOptions& options = {}) {
  const auto gradient = autograd::gradient_of("hessian", autograd::many_to_many("hessian", f));
  return autograd::jacobians_of("hessian", gradient, {x}, options)[0][0];
}
/// The same for several arguments: the blocks of the Hessian. Block [i][j] has the derivatives with respect to x[i] and
/// then x[j], of shape x[i].shape() + x[j].shape(); it is the transpose of block [j][i].
template <TensorsFunction F>
std::vector<std::vector<Tensor>> hessian(F&& f, const std::vector<Tensor>& x, const JacobianOptions& options = {}) {
  const auto gradient = autograd::gradient_of("hessian", autograd::many_to_many("hessian", f));
  return autograd::jacobians_of("hessian", gradient, x, options);
}

/// H v, where H is the Hessian of an f with a single-element result and v has x's shape. Computed as the gradient of
/// v^T (gradient of f), at about 4 times the cost of f. ShapeError if f returns more than one element or v has another
/// shape.
template <TensorToTensor F> Tensor hvp(F&& f, const Tensor& x, const Tensor& v) {
  return autograd::hessian_product_of("hvp", autograd::many_to_many("hvp", f), {x}, {v})[0];
}
/// The same for several arguments: the blocks of H v.
template <TensorsFunction F>
std::vector<Tensor> hvp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::hessian_product_of("hvp", autograd::many_to_many("hvp", f), x, v);
}
/// v^T H. The values are those of hvp(), because H is symmetric.
template <TensorToTensor F> Tensor vhp(F&& f, const Tensor& x, const Tensor& v) {
  return autograd::hessian_product_of("vhp", autograd::many_to_many("vhp", f), {x}, {v})[0];
}
template <TensorsFunction F>
std::vector<Tensor> vhp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::hessian_product_of("vhp", autograd::many_to_many("vhp", f), x, v);
}

}  // namespace weft
