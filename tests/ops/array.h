// The naive side of every case: arrays of doubles and plain loops over them, sharing no code with weft's kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "tensor/core/shape.h"

namespace weft::testing {

/// A row-major array of doubles. `absent` stands for an optional input that is not given.
struct Array {
  Shape shape;
  std::vector<double> values;
  bool absent = false;

  int64_t rank() const { return shape.rank(); }
  int64_t size(int64_t axis) const { return shape[static_cast<size_t>(axis < 0 ? axis + rank() : axis)]; }
  double at(const std::vector<int64_t>& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + index[i];
    return values[static_cast<size_t>(place)];
  }
};

/// Several arrays; one converts.
struct Arrays : std::vector<Array> {
  using std::vector<Array>::vector;
  Arrays(Array one) : std::vector<Array>{std::move(one)} {}
};

using Index = std::vector<int64_t>;
using Reference = std::function<Arrays(const Arrays&)>;

/// The array of `shape` whose element at an index is `value(index)`.
Array build(const Shape& shape, const std::function<double(const Index&)>& value);
/// Every index of `shape`, in row-major order.
std::vector<Index> indices_of(const Shape& shape);
/// The element of `a` that `index` of a larger, broadcast shape reads.
double broadcast_at(const Array& a, const Index& index);
/// The shape that `a` and `b` broadcast to.
Shape broadcast_of(const Shape& a, const Shape& b);
/// `axes` of a tensor of `rank`, none meaning all, as one flag each.
std::vector<bool> axis_flags(const std::vector<int64_t>& axes, int64_t rank);

/// f of each element.
Reference pointwise(double (*f)(double));
/// f of each pair, broadcast.
Reference pointwise(double (*f)(double, double));
/// f of the elements along `axes` (none: all), in row-major order.
Reference reduction(const std::vector<int64_t>& axes, bool keepdim,
                    const std::function<double(const std::vector<double>&)>& f);
/// f replaces each row along `axis` by another of the same length.
Reference rowwise(int64_t axis, std::function<std::vector<double>(const std::vector<double>&)> f);

}  // namespace weft::testing
