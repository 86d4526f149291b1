// The naive side of every test: arrays of doubles and plain loops over them, sharing no code with weft's kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "tensor/core/shape.h"

namespace weft::testing::reference {

using Index = std::vector<int64_t>;
using Row = std::vector<double>;

/// The offset of the element at `index` in a row-major list.
size_t offset_of(const Shape& shape, const Index& index);

/// A row-major array of doubles. `absent` stands for an optional input that is not given.
struct Array {
  Shape shape;
  Row values;
  bool absent = false;

  int64_t rank() const { return shape.rank(); }
  int64_t size(int64_t axis) const { return shape[static_cast<size_t>(axis < 0 ? axis + rank() : axis)]; }
  double at(const Index& index) const { return values[offset_of(shape, index)]; }
  double& at(const Index& index) { return values[offset_of(shape, index)]; }
  /// The element of an optional array.
  double at_or(const Index& index, double otherwise) const { return absent ? otherwise : at(index); }
};

/// Several arrays; one converts.
struct Arrays : std::vector<Array> {
  using std::vector<Array>::vector;
  Arrays(Array one) : std::vector<Array>{std::move(one)} {}
};

using Reference = std::function<Arrays(const Arrays&)>;

/// The array of `shape` whose element at an index is `value(index)`.
Array build(const Shape& shape, const std::function<double(const Index&)>& value);
Array zeros(const Shape& shape);
/// The same elements in another shape.
Array reshaped(Array a, const Shape& shape);
/// Every index of `shape`, in row-major order.
std::vector<Index> indices_of(const Shape& shape);
/// The element of `a` that `index` of a larger, broadcast shape reads.
double broadcast_at(const Array& a, const Index& index);
/// The shape that `a` and `b` broadcast to.
Shape broadcast_of(const Shape& a, const Shape& b);
/// `axes` of a tensor of `rank`, none meaning all, as one flag each.
std::vector<bool> axis_flags(const std::vector<int64_t>& axes, int64_t rank);
/// The elements along `axis`, of the row that `index` lies in.
Row row_at(const Array& x, Index index, size_t axis);

/// What is put in.
Reference same();
/// These values, whatever is put in.
Reference constant(const Shape& shape, const Row& values);
/// The element of x[0] at map(index) for each index of `shape`.
Reference picked(const Shape& shape, const std::function<Index(const Index&)>& map);
/// f of each element.
Reference pointwise(double (*f)(double));
/// f of each pair, broadcast.
Reference pointwise(double (*f)(double, double));
/// f of each triple, broadcast.
Reference pointwise(double (*f)(double, double, double));
/// f of the elements along the axes that are flagged, in row-major order.
Array reduced(const Array& x, const std::vector<bool>& flags, bool keepdim, const std::function<double(const Row&)>& f);
/// The same along `axes` (none: all).
Reference reduction(const std::vector<int64_t>& axes, bool keepdim, const std::function<double(const Row&)>& f);
/// f replaces each row along `axis` by another of the same length.
Reference rowwise(int64_t axis, const std::function<Row(const Row&)>& f);
/// The same of the rows of two arrays.
Reference rowwise(int64_t axis, const std::function<Row(const Row&, const Row&)>& f);

}  // namespace weft::testing::reference
