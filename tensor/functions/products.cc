#include "tensor/functions/products.h"

#include <algorithm>
#include <limits>

#include "tensor/adjoints/linalg.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

void check_rank(const Tensor& x, int64_t rank, const char* what) {
  if (x.rank() != rank) throw ShapeError(text("it takes ", what, ", not shape ", x.shape()));
}

IntList checked_axes(const IntList& axes, int64_t rank) {
  IntList out;
  for (const int64_t axis : axes) {
    const int64_t now = normalize_axis(axis, rank);
    for (const int64_t before : out)
      if (before == now) throw IndexError(text("axis ", axis, " is given twice"));
    out.push_back(now);
  }
  return out;
}

IntList joined(IntList a, const IntList& b) {
  for (const int64_t i : b) a.push_back(i);
  return a;
}

int64_t size_over(const Tensor& x, const IntList& axes) {
  int64_t out = 1;
  for (const int64_t axis : axes) out = checked_multiply(out, x.size(axis));
  return out;
}

Tensor contracted(const Tensor& a, const Tensor& b, const IntList& a_list, const IntList& b_list) {
  const IntList a_axes = checked_axes(a_list, a.rank()), b_axes = checked_axes(b_list, b.rank());
  if (a_axes.size() != b_axes.size())
    throw ShapeError(text(a_axes.size(), " and ", b_axes.size(), " axes are given; they are summed in pairs"));
  for (size_t i = 0; i < a_axes.size(); ++i)
    if (a.size(a_axes[i]) != b.size(b_axes[i]))
      throw ShapeError(text("axis ", a_axes[i], " of the first has size ", a.size(a_axes[i]), ", axis ", b_axes[i],
                            " of the second ", b.size(b_axes[i])));
  const IntList rows = internal::other_axes(a.rank(), a_axes), columns = internal::other_axes(b.rank(), b_axes);
  Shape shape;
  for (const int64_t axis : rows) shape.push_back(a.size(axis));
  for (const int64_t axis : columns) shape.push_back(b.size(axis));
  const int64_t k = size_over(a, a_axes);
  return reshape(matmul(reshape(permute(a, joined(rows, a_axes)), {size_over(a, rows), k}),
                        reshape(permute(b, joined(b_axes, columns)), {k, size_over(b, columns)})),
                 shape);
}

/// The cheapest way to multiply matrices first to last: where it splits, by dynamic programming (Cormen et al., 15.2).
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<Tensor>& chain) : n_(chain.size()), cost_(n_ * n_), split_(n_ * n_) {
    std::vector<double> sizes;
    for (const Tensor& x : chain) sizes.push_back(static_cast<double>(x.size(0)));
    sizes.push_back(static_cast<double>(chain.back().size(1)));
    for (size_t length = 1; length < n_; ++length)
      for (size_t i = 0; i + length < n_; ++i) {
        double best = std::numeric_limits<double>::infinity();
        for (size_t k = i; k < i + length; ++k) {
          const double now =
              cost_[i * n_ + k] + cost_[(k + 1) * n_ + i + length] + sizes[i] * sizes[k + 1] * sizes[i + length + 1];
          if (now < best) best = now, split_[i * n_ + i + length] = k;
        }
        cost_[i * n_ + i + length] = best;
      }
  }
  Tensor multiply(const std::vector<Tensor>& chain, size_t first, size_t last) const {
    if (first == last) return chain[first];
    const size_t k = split_[first * n_ + last];
    return matmul(multiply(chain, first, k), multiply(chain, k + 1, last));
  }

 private:
  size_t n_;
  std::vector<double> cost_;  // of the product of i to k
  std::vector<size_t> split_;
};

Tensor chain(const std::vector<Tensor>& matrices) {
  for (size_t i = 0; i + 1 < matrices.size(); ++i)
    if (matrices[i].size(1) != matrices[i + 1].size(0))
      throw ShapeError(text("inner sizes of matrices ", i, " and ", i + 1, " differ: ", matrices[i].size(1), " and ",
                            matrices[i + 1].size(0)));
  return ChainOrder(matrices).multiply(matrices, 0, matrices.size() - 1);
}

}  // namespace

Tensor dot(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("dot", a, b);
  check_rank(a, 1, "two vectors"), check_rank(b, 1, "two vectors");
  return matmul(a, b);
}
Tensor vdot(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("vdot", a, b);
  return dot(a, b);
}

Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis) {
  ErrorFrame frame("vecdot", a, b);
  const DType dtype = promote(a.dtype(), b.dtype());
  if (is_half_precision(dtype)) return cast(vecdot(cast(a, f32), cast(b, f32), axis), dtype);
  return sum(a * b, axis);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("outer", a, b);
  check_rank(a, 1, "two vectors"), check_rank(b, 1, "two vectors");
  return unsqueeze(a, 1) * b;
}

Tensor inner(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("inner", a, b);
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  return contracted(a, b, {a.rank() - 1}, {b.rank() - 1});
}

Tensor mv(const Tensor& a, const Tensor& x) {
  ErrorFrame frame("mv", a, x);
  check_rank(a, 2, "a matrix and a vector"), check_rank(x, 1, "a matrix and a vector");
  return matmul(a, x);
}

Tensor mm(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("mm", a, b);
  check_rank(a, 2, "two matrices"), check_rank(b, 2, "two matrices");
  return matmul(a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("bmm", a, b);
  check_rank(a, 3, "two tensors (B, M, K) and (B, K, N)"), check_rank(b, 3, "two tensors (B, M, K) and (B, K, N)");
  if (a.size(0) != b.size(0)) throw ShapeError(text("batch sizes differ: ", a.size(0), " and ", b.size(0)));
  return matmul(a, b);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  ErrorFrame frame("tensordot", a, b);
  if (axes < 0 || axes > a.rank() || axes > b.rank())
    throw IndexError(text("cannot sum over ", axes, " axes of tensors with ", a.rank(), " and ", b.rank()));
  IntList last, first;
  for (int64_t i = 0; i < axes; ++i) last.push_back(a.rank() - axes + i), first.push_back(i);
  return contracted(a, b, last, first);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const IntList& a_axes, const IntList& b_axes) {
  ErrorFrame frame("tensordot", a, b);
  return contracted(a, b, a_axes, b_axes);
}

Tensor kron(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("kron", a, b);
  const int64_t rank = std::max(a.rank(), b.rank());
  const auto size = [&](const Tensor& x, int64_t i) { return i < rank - x.rank() ? 1 : x.size(i - rank + x.rank()); };
  Shape spread_a, spread_b, shape;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t m = size(a, i), n = size(b, i);
    if (m != 1) spread_a.push_back(m), spread_b.push_back(1);
    if (n != 1 || m == 1) spread_a.push_back(1), spread_b.push_back(n);
    shape.push_back(checked_multiply(m, n));
  }
  if (spread_a.size() > static_cast<size_t>(kMaxAxes))
    throw ShapeError(text("needs ", spread_a.size(), " axes, as an axis that is above 1 in both counts twice; at most ",
                          kMaxAxes, " are possible"));
  return reshape(reshape(a, spread_a) * reshape(b, spread_b), shape);
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axis) {
  ErrorFrame frame("cross", a, b);
  const int64_t rank = std::max(a.rank(), b.rank());
  const int64_t from_end = normalize_axis(axis, rank) - rank;
  for (const Tensor* x : {&a, &b})
    if (x->rank() < -from_end || x->size(from_end) != 3)
      throw ShapeError(text("axis ", axis, " must have size 3; the shapes are ", a.shape(), " and ", b.shape()));
  const auto part = [&](const Tensor& x, int64_t i) { return select(x, from_end, i); };
  const auto entry = [&](int64_t i, int64_t k) { return part(a, i) * part(b, k) - part(a, k) * part(b, i); };
  return stack({entry(1, 2), entry(2, 0), entry(0, 1)}, from_end);
}

Tensor trace(const Tensor& x) {
  ErrorFrame frame("trace", x);
  check_rank(x, 2, "a matrix");
  return sum(diagonal(x));
}

Tensor multi_dot(const std::vector<Tensor>& matrices) {
  ErrorFrame frame("multi_dot", std::span<const Tensor>(matrices));
  if (matrices.empty()) throw Error("1 matrix or more is needed");
  std::vector<Tensor> list = matrices;
  const bool row = list.size() > 1 && list.front().rank() == 1, column = list.size() > 1 && list.back().rank() == 1;
  if (row) list.front() = unsqueeze(list.front(), 0);
  if (column) list.back() = unsqueeze(list.back(), 1);
  for (const Tensor& x : list) check_rank(x, 2, "matrices (the first and the last may be vectors)");
  Tensor out = chain(list);
  if (column) out = squeeze(out, 1);
  return row ? squeeze(out, 0) : out;
}

Tensor chain_matmul(const std::vector<Tensor>& matrices) {
  ErrorFrame frame("chain_matmul", std::span<const Tensor>(matrices));
  if (matrices.empty()) throw Error("1 matrix or more is needed");
  for (const Tensor& x : matrices) check_rank(x, 2, "matrices");
  return chain(matrices);
}

Tensor matrix_power(const Tensor& a, int64_t n) {
  ErrorFrame frame("matrix_power", a);
  adjoint::check_square(a);
  if (n == 1) return clone(a);  // not the caller's own memory
  if (n == 0) return contiguous(broadcast(eye(a.size(-1), std::nullopt, a.dtype(), a.device()), a.shape()));
  Tensor square = n < 0 ? inv(a) : a, out;
  // Of the magnitude: the smallest n has no positive counterpart in 64 bits.
  for (uint64_t left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (left & 1u) out = out.defined() ? matmul(out, square) : square;
    if ((left >>= 1) == 0) return out;
    square = matmul(square, square);
  }
}

Tensor vander(const Tensor& x, std::optional<int64_t> n) {
  ErrorFrame frame("vander", x);
  if (x.rank() == 0) throw ShapeError("1 axis or more is needed");
  const int64_t count = n.value_or(x.size(-1));
  if (count < 1) throw ShapeError(text("1 column or more is needed, not ", count));
  dispatch::check_accepted(x.dtype(), kNumbers);
  const Tensor base = is_floating(x.dtype()) ? x : cast(x, i64);
  const Tensor first = unsqueeze(base, -1);
  Shape rest = first.shape();
  rest[static_cast<size_t>(x.rank())] = count - 1;
  return cumprod(cat({ones_like(first), expand(first, rest)}, -1), -1);
}

}  // namespace weft
