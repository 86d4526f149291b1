#include "autograd/transforms/jacobian.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "autograd/transforms/recorded.h"
#include "tensor/batching/vmap.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::autograd {
namespace {

/// `first` and then `second`.
Shape joined(const Shape& first, const Shape& second) {
  Shape out = first;
  for (int64_t size : second) out.push_back(size);
  return out;
}

/// Rows [begin, end) of the identity of f(x)'s elements, each in the shape of f(x).
Tensor unit_seeds(const Tensor& y, int64_t begin, int64_t end) {
  const Tensor rows = zeros({end - begin, y.numel()}, y.dtype(), y.device());
  diagonal(rows, begin).fill_(1);
  return reshape(rows, joined({end - begin}, y.shape()));
}

void check_axes(const char* name, const Tensors& outputs, const Tensors& x) {
  for (const Tensor& y : outputs)
    for (const Tensor& argument : x)
      if (const int64_t axes = y.rank() + argument.rank(); axes > kMaxAxes)
        throw ShapeError(text(name, ": the derivatives of ", y.shape(), " by ", argument.shape(), " would have ", axes,
                              " axes, at most ", kMaxAxes, " are possible; flatten them first"));
}

}  // namespace

std::vector<Tensors> jacobians_of(const char* name, const ManyToMany& f, const Tensors& x,
                                  const JacobianOptions& options, const std::vector<Tensor*>& aux) {
  if (options.rows_at_once < 0)
    throw Error(text(name, ": rows_at_once must be 0 (all) or more, not ", options.rows_at_once));
  const Recorded call(name, f, x);
  call.finish_aux(aux);  // (the graph is retained for the rows)
  check_axes(name, call.outputs(), x);
  const bool differentiable = call.is_differentiable({});
  const EnableGrad recording;
  std::vector<Tensors> all;
  for (size_t output = 0; output < call.outputs().size(); ++output) {
    const Tensor& y = call.outputs()[output];
    const int64_t rows = y.numel(), step = options.rows_at_once > 0 ? options.rows_at_once : std::max<int64_t>(rows, 1);
    const auto row = [&](const Tensors& seed) {
      return call.gradients_of(output, seed[0], call.must_record(differentiable));
    };
    const auto rows_between = [&](int64_t begin, int64_t end) -> Tensors {
      const Tensor seeds = unit_seeds(y, begin, end);
      if (end - begin > 1) return vmap(row)({seeds});
      Tensors gradients = row({seeds[0]});  // without vmap, as a Function's backward may read values
      for (Tensor& gradient : gradients) gradient = unsqueeze(gradient, 0);
      return gradients;
    };
    std::vector<Tensors> parts(x.size());
    for (int64_t begin = 0; begin < rows; begin += step) {
      const Tensors part = rows_between(begin, std::min(rows, begin + step));
      for (size_t i = 0; i < x.size(); ++i) parts[i].push_back(part[i]);
    }
    Tensors out;
    for (size_t i = 0; i < x.size(); ++i) {
      const Shape shape = joined(y.shape(), x[i].shape());
      out.push_back(parts[i].empty() ? zeros(shape, x[i].dtype(), x[i].device()) : reshape(cat(parts[i], 0), shape));
    }
    all.push_back(call.finished(out, differentiable));
  }
  return all;
}

ManyToMany gradient_of(const char* name, const ManyToMany& f) {
  return [name, f](const Tensors& x) -> Tensors {
    const Recorded call(name, f, x);
    if (call.outputs().size() != 1 || call.outputs()[0].numel() != 1)
      throw ShapeError(
          text(name, ": the function gives ",
               call.outputs().size() == 1 ? describe(call.outputs()[0]) : text(call.outputs().size(), " tensors"),
               "; it must give one number"));
    const bool differentiable = call.is_differentiable({});
    const EnableGrad recording;
    return call.finished(call.gradients({}, call.must_record(differentiable)), differentiable);
  };
}

Tensors hessian_product_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v) {
  const Tensors along = v.empty() ? Tensors(x.size()) : v;
  check_directions(name, x, along, "argument", true);
  return vjp_of(name, gradient_of(name, f), x, along).gradients;
}

}  // namespace weft::autograd
