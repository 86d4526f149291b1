#include "tensor/ops/infer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

View result_view(const Shape& shape, std::initializer_list<const View*> inputs) {
  for (const View* view : inputs) {
    if (view->shape() != shape || !view->is_dense()) continue;
    if (view->is_contiguous()) break;
    return View::create(shape, view->strides());
  }
  return View::contiguous(shape);
}

Spec spec_in_order_of(const Operand& x, const Shape& shape) {
  const View& order = x.layout();
  if (order.is_contiguous() || !order.is_dense()) return spec_of(shape, x.dtype);
  IntList axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t i, int64_t j) { return order.stride(i) < order.stride(j); });
  Strides strides = IntList::filled(shape.size(), 0);
  int64_t step = 1;
  for (int64_t i : axes) {
    strides[static_cast<size_t>(i)] = step;
    step = checked_multiply(step, std::max<int64_t>(shape[static_cast<size_t>(i)], 1));
  }
  return {View::create(shape, strides), x.dtype};
}

void check_dtype(const Operand& x, bool accepted, std::string_view what) {
  if (!accepted) throw DtypeError(text(x.dtype, " is not accepted here; it takes ", what));
}

void check_same_shape(const Operand& a, const Operand& b) {
  if (a.shape() != b.shape()) throw ShapeError(text("shapes differ: ", a.shape(), " and ", b.shape()));
}

void check_gradient(const Operand& g, const Shape& expected) {
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
}

void check_probability(std::string_view what, double p) {
  if (!(p >= 0 && p <= 1)) throw Error(text(what, " ", p, " must lie between 0 and 1"));
}

void check_fits(const Scalar& value, DType dtype) {
  if (!is_integer(dtype) || (!value.is_floating() && value.fits(dtype))) return;
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
      // Above `high` by one: 2^63 is a double, 2^63 - 1 is none. NaN is nowhere.
      const double whole = std::trunc(value.to_double()), end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (value.is_floating() && whole >= static_cast<double>(low) && whole < end) return;
      const bool real = value.is_floating() || value.exceeds_i64();
      throw Error(text("the value ", real ? text(value.to_double()) : text(value.to_int()), " does not fit into ",
                       dtype, ", which holds ", low, " to ", high));
    }
  });
}

}  // namespace weft
