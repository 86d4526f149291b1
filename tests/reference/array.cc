#include "tests/reference/array.h"

namespace weft::testing::reference {

size_t offset_of(const Shape& shape, const Index& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset = offset * shape[i] + index[i];
  return static_cast<size_t>(offset);
}

std::vector<Index> indices_of(const Shape& shape) {
  std::vector<Index> out;
  if (checked_numel(shape) == 0) return out;
  Index index(shape.size(), 0);
  while (true) {
    out.push_back(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return out;
  }
}

Array build(const Shape& shape, const std::function<double(const Index&)>& value) {
  Array out{shape, {}};
  for (const Index& index : indices_of(shape)) out.values.push_back(value(index));
  return out;
}

Array zeros(const Shape& shape) { return {shape, Row(static_cast<size_t>(checked_numel(shape)), 0.0)}; }

Array reshaped(Array a, const Shape& shape) { return a.shape = shape, a; }

double broadcast_at(const Array& a, const Index& index) {
  Index own(index.end() - a.rank(), index.end());
  for (size_t i = 0; i < own.size(); ++i)
    if (a.shape[i] == 1) own[i] = 0;
  return a.at(own);
}

Shape broadcast_of(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = out[longer.size() - shorter.size() + i];
    if (size == 1) size = shorter[i];
  }
  return out;
}

std::vector<bool> axis_flags(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> out(static_cast<size_t>(rank), axes.empty());
  if (rank == 0) return out;  // axis 0 and -1 of an array without axes change nothing
  for (int64_t axis : axes) out[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  return out;
}

Row row_at(const Array& x, Index index, size_t axis) {
  Row row;
  for (index[axis] = 0; index[axis] < x.shape[axis]; ++index[axis]) row.push_back(x.at(index));
  return row;
}

Reference same() {
  return [](const Arrays& x) { return x[0]; };
}
Reference constant(const Shape& shape, const Row& values) {
  return [=](const Arrays&) { return Array{shape, values}; };
}
Reference picked(const Shape& shape, const std::function<Index(const Index&)>& map) {
  return [=](const Arrays& x) { return build(shape, [&](const Index& i) { return x[0].at(map(i)); }); };
}
Reference pointwise(double (*f)(double)) {
  return [f](const Arrays& x) {
    Array out = x[0];
    for (double& value : out.values) value = f(value);
    return out;
  };
}

Reference pointwise(double (*f)(double, double)) {
  return [f](const Arrays& x) {
    return build(broadcast_of(x[0].shape, x[1].shape),
                 [&](const Index& index) { return f(broadcast_at(x[0], index), broadcast_at(x[1], index)); });
  };
}

Reference pointwise(double (*f)(double, double, double)) {
  return [f](const Arrays& x) {
    const Shape shape = broadcast_of(x[0].shape, broadcast_of(x[1].shape, x[2].shape));
    return build(
        shape, [&](const Index& i) { return f(broadcast_at(x[0], i), broadcast_at(x[1], i), broadcast_at(x[2], i)); });
  };
}

Array reduced(const Array& x, const std::vector<bool>& flags, bool keepdim,
              const std::function<double(const Row&)>& f) {
  Shape kept, result;
  for (size_t i = 0; i < flags.size(); ++i) {
    kept.push_back(flags[i] ? 1 : x.shape[i]);
    if (!flags[i] || keepdim) result.push_back(kept.back());
  }
  std::vector<Row> rows(static_cast<size_t>(checked_numel(kept)));
  size_t offset = 0;
  for (Index at : indices_of(x.shape)) {
    for (size_t i = 0; i < at.size(); ++i) at[i] = flags[i] ? 0 : at[i];
    rows[offset_of(kept, at)].push_back(x.values[offset++]);
  }
  Array out{result, {}};
  for (const Row& row : rows) out.values.push_back(f(row));
  return out;
}

Reference reduction(const std::vector<int64_t>& axes, bool keepdim, const std::function<double(const Row&)>& f) {
  return [=](const Arrays& x) { return reduced(x[0], axis_flags(axes, x[0].rank()), keepdim, f); };
}

namespace {

/// f of the number of each row along `axis` replaces that row, in an array of this shape.
template <class F> Array rows_replaced(const Shape& shape, int64_t axis, const F& f) {
  Array out = zeros(shape);
  if (shape.empty()) return out.values = f({}), out;
  const size_t a = static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis);
  if (out.values.empty()) return out;
  Shape firsts = shape;
  firsts[a] = 1;
  for (Index index : indices_of(firsts)) {
    const Row row = f(index);
    for (index[a] = 0; index[a] < shape[a]; ++index[a]) out.at(index) = row[static_cast<size_t>(index[a])];
  }
  return out;
}
/// The row along `axis`; the one element of an array without axes.
Row row_of(const Array& x, const Index& index, int64_t axis) {
  return x.rank() == 0 ? x.values : row_at(x, index, static_cast<size_t>(axis < 0 ? axis + x.rank() : axis));
}

}  // namespace

Reference rowwise(int64_t axis, const std::function<Row(const Row&)>& f) {
  return [=](const Arrays& x) {
    return rows_replaced(x[0].shape, axis, [&](const Index& at) { return f(row_of(x[0], at, axis)); });
  };
}

Reference rowwise(int64_t axis, const std::function<Row(const Row&, const Row&)>& f) {
  return [=](const Arrays& x) {
    return rows_replaced(x[0].shape, axis,
                         [&](const Index& at) { return f(row_of(x[0], at, axis), row_of(x[1], at, axis)); });
  };
}

}  // namespace weft::testing::reference
