// add_into of copy.h: the accumulation behind the gradient of every view.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/ops/binary.h"

namespace weft::kernels::cpu {
namespace {

// A long row into one element is summed in double, so that it keeps its precision.
template <class T> auto sum_row(const T* x, int64_t stride, int64_t count) {
  std::conditional_t<std::is_integral_v<T>, Wrapping<T>, double> total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < count; ++i) total += static_cast<Compute<T>>(x[i * stride]);
  return total;
}

// Operands: x of X, out of T. Columns of one row are distinct elements of out, or all the same one.
template <class X, class T>
void add_rows(const void*, char* const* p, const int64_t* step, const int64_t* row_step, int64_t columns,
              int64_t rows) {
  const int64_t x_stride = step[0] / static_cast<int64_t>(sizeof(X)),
                stride = step[1] / static_cast<int64_t>(sizeof(T));
  for (int64_t row = 0; row < rows; ++row) {
    const X* x = reinterpret_cast<const X*>(p[0] + row * row_step[0]);
    T* out = reinterpret_cast<T*>(p[1] + row * row_step[1]);
    if (stride == 0) {
      const auto sum = sum_row(x, x_stride, columns);
      *out = static_cast<T>(static_cast<decltype(sum)>(static_cast<Compute<T>>(*out)) + sum);
    } else if (stride == 1 && x_stride == 1) {
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) out[i] = wrapping_add<Compute<T>>(out[i], Compute<X>(x[i]));
    } else {
      for (int64_t i = 0; i < columns; ++i)
        out[i * stride] = wrapping_add<Compute<T>>(out[i * stride], Compute<X>(x[i * x_stride]));
    }
  }
}

void add_in_order(const Operand& x, const Operand& out) {
  const Operand operands[] = {x, out};
  visit_number(x.dtype, [&]<class T>() {
    strided_loop(operands, 2, 0, x.dtype == out.dtype ? &add_rows<T, T> : &add_rows<T, Compute<T>>, nullptr);
  });
}

// An axis whose slices of `view` share no memory: it steps over all that the other axes can reach. -1 where there is
// none.
int64_t independent_axis(const View& view) {
  const size_t rank = view.shape().size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t reach = 0;
    for (size_t other = 0; other < rank; ++other)
      if (other != axis) reach += std::abs(view.strides()[other]) * (view.shape()[other] - 1);
    if (view.shape()[axis] > 1 && std::abs(view.strides()[axis]) > reach) return static_cast<int64_t>(axis);
  }
  return -1;
}

/// Whether add_in_order() goes along this axis of x first: the last of those with the smallest stride.
bool is_innermost(const View& x, int64_t axis) {
  const auto stride = [&](int64_t i) { return std::abs(x.strides()[static_cast<size_t>(i)]); };
  for (int64_t i = 0; i < std::ssize(x.shape()); ++i)
    if (x.shape()[static_cast<size_t>(i)] > 1 && (i > axis ? stride(i) <= stride(axis) : stride(i) < stride(axis)))
      return false;
  return true;
}

}  // namespace

void add_into(const Operand& x, const Operand& out) {
  if (out.numel() == 0) return;
  if (!out.view->overlaps_itself() && x.dtype == out.dtype) return op::Add{}.cpu(out, x, out);
  const int64_t axis = independent_axis(*out.view);
  if (axis < 0) return add_in_order(x, out);
  const int64_t size = out.size(axis);
  // A slice of one has no such axis: another one would be the first, and a row along it that goes into one element
  // would be summed in double, which the thread count must not decide.
  const int64_t least = is_innermost(*x.view, axis) ? 2 : 1;
  parallel_for(size, std::max(kCheapGrain / (out.numel() / size) + 1, least), [&](int64_t begin, int64_t end) {
    const View from = x.view->slice(axis, begin, end), to = out.view->slice(axis, begin, end);
    add_in_order(x.with(from), out.with(to));
  });
}

}  // namespace weft::kernels::cpu
