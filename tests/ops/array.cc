#include "tests/ops/array.h"

#include <algorithm>

namespace weft::testing {

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

Reference reduction(const std::vector<int64_t>& axes, bool keepdim,
                    const std::function<double(const std::vector<double>&)>& f) {
  return [=](const Arrays& x) {
    const std::vector<bool> reduced = axis_flags(axes, x[0].rank());
    Shape kept, result, inner;
    for (size_t i = 0; i < reduced.size(); ++i) {
      kept.push_back(reduced[i] ? 1 : x[0].shape[i]);
      inner.push_back(reduced[i] ? x[0].shape[i] : 1);
      if (!reduced[i] || keepdim) result.push_back(kept.back());
    }
    Array out = build(kept, [&](const Index& at) {
      std::vector<double> row;
      for (Index index : indices_of(inner)) {
        for (size_t i = 0; i < index.size(); ++i) index[i] += at[i];
        row.push_back(x[0].at(index));
      }
      return f(row);
    });
    out.shape = result;
    return out;
  };
}

Reference rowwise(int64_t axis, std::function<std::vector<double>(const std::vector<double>&)> f) {
  return [=](const Arrays& x) {
    if (x[0].rank() == 0) return Array{{}, f(x[0].values)};
    const size_t a = static_cast<size_t>(axis < 0 ? axis + x[0].rank() : axis);
    return build(x[0].shape, [&](Index index) {
      const size_t place = static_cast<size_t>(index[a]);
      std::vector<double> row;
      for (index[a] = 0; index[a] < x[0].shape[a]; ++index[a]) row.push_back(x[0].at(index));
      return f(row)[place];
    });
  };
}

}  // namespace weft::testing
