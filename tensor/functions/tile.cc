#include "tensor/functions/tile.h"

#include <algorithm>
#include <numeric>

#include "tensor/adjoints/segment.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cat.h"

namespace weft {
namespace {

int64_t product(const Shape& shape, int64_t begin, int64_t end) {
  int64_t out = 1;
  for (int64_t i = begin; i < end; ++i) out = checked_multiply(out, shape[static_cast<size_t>(i)]);
  return out;
}

/// How many axes a tensor on x's device may have: samples of vmap leave one to each batch that they are in.
int64_t most_axes(const Tensor& x) {
  return kMaxAxes - (x.device().kind == DeviceKind::vmap ? x.device().index + 1 : 0);
}

/// x repeated along one axis. For tensors that already have the maximum number of axes: the axes before this one are
/// merged, and so are this and the later ones.
Tensor repeated_axis(const Tensor& x, int64_t axis, int64_t count) {
  const int64_t before = product(x.shape(), 0, axis), rest = product(x.shape(), axis, x.rank());
  Shape whole = x.shape();
  whole[static_cast<size_t>(axis)] = checked_multiply(x.size(axis), count);
  return reshape(expand(reshape(x, {before, 1, rest}), {before, count, rest}), whole);
}

/// x repeated along each axis: an axis of size n is expanded to (count, n), and the two are merged.
Tensor repeated(const Tensor& x, const IntList& counts) {
  Tensor out = x;
  const int64_t most = most_axes(x);
  while (out.rank() < counts.rank()) out = unsqueeze(out, 0);
  // One copy repeats as many axes as the maximum number of axes allows. `wide` is the shape with an additional axis for
  // each repetition, `whole` that of the copy.
  Shape wide = out.shape(), whole = out.shape();
  const auto copy = [&] {
    if (wide.rank() != whole.rank()) out = reshape(expand(out, wide), whole);
    wide = whole;
  };
  for (int64_t i = counts.rank() - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    if (counts[at] < 0) throw ShapeError(text("count ", counts[at], " in ", counts, " is negative"));
    if (counts[at] == 1) continue;
    if (out.rank() >= most) copy();
    whole[at] = checked_multiply(whole[at], counts[at]);
    if (out.rank() < most) {
      out = unsqueeze(out, i);
      wide.insert(at, counts[at]);
    } else {
      out = repeated_axis(out, i, counts[at]);
      wide = whole;
    }
  }
  copy();
  return dispatch::unshared(out, x);
}

/// x with the elements of each axis moved on.
Tensor rolled(const Tensor& x, const IntList& shifts) {
  op::Roll op{shifts};
  bool moves = false;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const int64_t size = std::max<int64_t>(x.size(axis), 1);
    int64_t& shift = op.shifts[static_cast<size_t>(axis)];
    shift = (shift % size + size) % size;
    moves = moves || shift != 0;
  }
  return moves && x.numel() > 0 ? dispatch::apply(op, x) : x;
}

/// The elements of a matrix on and below a diagonal from -rows to columns: more in each row, until rows are whole.
int64_t count_below(int64_t rows, int64_t columns, int64_t diagonal) {
  const int64_t reached = rows + std::min<int64_t>(diagonal, 0),
                first = std::min(std::max<int64_t>(diagonal, 0) + 1, columns);
  const int64_t partial = std::min(reached, columns - first);
  return partial * first + partial * (partial - 1) / 2 + (reached - partial) * columns;
}

Tensor triangle_indices(const char* name, bool lower, int64_t rows, int64_t columns, int64_t diagonal, Device device) {
  ErrorFrame frame(name);
  (void)spec_of({rows, columns}, boolean);  // ShapeError for sizes below 0
  const int64_t d = std::clamp(diagonal, -rows, columns);
  const int64_t below = count_below(rows, columns, std::max(lower ? d : d - 1, -rows));
  const Tensor out = empty({2, lower ? below : rows * columns - below}, i64);
  int64_t *row_of = out.data<int64_t>(), *column_of = row_of + out.size(1);
  // Rows that the triangle reaches: each of them holds something.
  const int64_t top = lower ? std::max<int64_t>(0, -d) : 0, bottom = lower ? rows : std::min(rows, columns - d);
  for (int64_t row = top; row < bottom && columns > 0; ++row) {
    const int64_t begin = lower ? 0 : std::max<int64_t>(0, row + d);
    const int64_t count = (lower ? std::min(columns, row + d + 1) : columns) - begin;
    row_of = std::fill_n(row_of, count, row);
    std::iota(column_of, column_of + count, begin);
    column_of += count;
  }
  return out.to(device);
}

}  // namespace

Tensor repeat(const Tensor& x, const IntList& counts) {
  ErrorFrame frame("repeat", x);
  if (counts.rank() < x.rank())
    throw ShapeError(text(counts.rank(), " counts for ", x.rank(), " axes; tile() takes fewer"));
  return repeated(x, counts);
}

Tensor tile(const Tensor& x, const IntList& counts) {
  ErrorFrame frame("tile", x);
  IntList full = counts;
  while (full.rank() < x.rank()) full.insert(0, 1);
  return repeated(x, full);
}

Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis) {
  ErrorFrame frame("repeat_interleave", x);
  if (count < 0) throw ShapeError(text("count ", count, " is negative"));
  if (!axis) return repeat_interleave(reshape(x, {-1}), count, 0);
  const int64_t a = normalize_axis_or_scalar(*axis, x.rank());
  if (x.rank() == 0) return repeat_interleave(reshape(x, {1}), count, 0);
  if (x.rank() >= most_axes(x)) {  // no room for one more
    const Tensor rows = arange(checked_multiply(x.size(a), count), i64, x.device());
    return index_select(x, a, floor_divide(rows, std::max<int64_t>(count, 1)));
  }
  Shape wide = x.shape(), whole = x.shape();
  wide.insert(static_cast<size_t>(a + 1), count);
  whole[static_cast<size_t>(a)] = checked_multiply(x.size(a), count);
  return dispatch::unshared(reshape(expand(unsqueeze(x, a + 1), wide), whole), x);
}

Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int64_t> axis) {
  ErrorFrame frame("repeat_interleave", x, counts);
  if (!axis) return repeat_interleave(reshape(x, {-1}), counts, 0);
  const int64_t a = normalize_axis_or_scalar(*axis, x.rank());
  if (x.rank() == 0) return repeat_interleave(reshape(x, {1}), counts, 0);
  if (!is_integer(counts.dtype())) throw DtypeError(text("the counts are ", counts.dtype(), "; they must be integers"));
  dispatch::check_shape_is_known(counts, "give a number");
  const std::vector<int64_t> times = counts.to_vector<int64_t>();
  if (times.size() == 1) return repeat_interleave(x, times[0], a);
  if (counts.rank() != 1 || counts.numel() != x.size(a))
    throw ShapeError(text("the counts have shape ", counts.shape(), ", axis ", a, " has size ", x.size(a)));
  int64_t total = 0;
  for (const int64_t count : times) {
    if (count < 0) throw ShapeError(text("count ", count, " is negative"));
    total = checked_add(total, count);
  }
  return adjoint::repeat_segments(x, counts.to(x.device()), a, total);
}

Tensor roll(const Tensor& x, const IntList& shifts, const IntList& axes) {
  ErrorFrame frame("roll", x);
  if (axes.empty()) {
    if (shifts.size() != 1) throw ShapeError(text("without axes there is one shift, not ", shifts.size()));
    return dispatch::unshared(reshape(rolled(reshape(x, {-1}), shifts), x.shape()), x);
  }
  if (shifts.size() != axes.size()) throw ShapeError(text(shifts.size(), " shifts for ", axes.size(), " axes"));
  IntList by = IntList::filled(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis_or_scalar(axes[i], x.rank()));
    if (x.rank() > 0 && x.numel() > 0) by[axis] = (by[axis] + shifts[i] % x.shape()[axis]) % x.shape()[axis];
  }
  return dispatch::unshared(rolled(x, by), x);
}

Tensor rot90(const Tensor& x, int64_t turns, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("rot90", x);
  const int64_t a = normalize_axis(axis0, x.rank()), b = normalize_axis(axis1, x.rank());
  if (a == b) throw IndexError(text("the two axes must differ, both are ", a));
  switch (((turns % 4) + 4) % 4) {
    case 0: return broadcast(x, x.shape());  // a view too, not x
    case 1: return transpose(flip(x, {b}), a, b);
    case 2: return flip(x, {a, b});
    default: return flip(transpose(x, a, b), {b});
  }
}

Tensor diag(const Tensor& x, int64_t offset) {
  ErrorFrame frame("diag", x);
  if (x.rank() == 2) return diagonal(x, offset);
  if (x.rank() != 1) throw ShapeError(text("a vector or a matrix is needed, not shape ", x.shape()));
  return diag_embed(x, offset);
}

Tensor diagflat(const Tensor& x, int64_t offset) {
  ErrorFrame frame("diagflat", x);
  return diag_embed(flatten(x), offset);
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("diag_embed", x);
  if (x.rank() == 0) throw ShapeError("1 axis or more is needed, not shape []");
  const int64_t rank = x.rank() + 1;
  const int64_t a = normalize_axis(axis0, rank), b = normalize_axis(axis1, rank);
  if (a == b) throw IndexError(text("the two axes must differ, both are ", a));
  const int64_t size = checked_add(x.size(-1), offset < 0 ? checked_multiply(offset, -1) : offset);
  Shape shape = x.shape();
  shape.resize(shape.size() - 1);
  for (const int64_t axis : {std::min(a, b), std::max(a, b)}) shape.insert(static_cast<size_t>(axis), size);
  const Tensor out = zeros(shape, x.dtype(), x.device());
  diagonal(out, offset, a, b).copy_(x);
  return out;
}

Tensor tril_indices(int64_t rows, int64_t columns, int64_t diagonal, Device device) {
  return triangle_indices("tril_indices", true, rows, columns, diagonal, device);
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t diagonal, Device device) {
  return triangle_indices("triu_indices", false, rows, columns, diagonal, device);
}

}  // namespace weft
