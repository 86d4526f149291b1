// Splitting a tensor into views, and grids and combinations made from 1-D tensors.
#pragma once

#include <initializer_list>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Splits x along `axis` into pieces of `size` entries; the last one may be smaller.
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis = 0);
/// Splits x along `axis` into pieces of the given sizes, whose sum must be the size of the axis.
std::vector<Tensor> split(const Tensor& x, const IntList& sizes, int64_t axis = 0);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<int64_t> sizes, int64_t axis = 0) {
  return split(x, IntList(sizes), axis);  // also {5} is a list: of one size
}
/// Splits x along `axis` into at most `count` pieces of equal size; the last one may be smaller. An axis of size 0
/// gives `count` empty pieces.
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis = 0);
/// Splits x along `axis` into `sections` pieces. If the size is not divisible, the first pieces are larger by one (in
/// split and chunk, the last piece is smaller instead).
std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t axis = 0);
/// Splits x along `axis` at the given positions into the slices [0, p0), [p0, p1), ..., [pn, size).
std::vector<Tensor> tensor_split(const Tensor& x, const IntList& positions, int64_t axis = 0);
inline std::vector<Tensor> tensor_split(const Tensor& x, std::initializer_list<int64_t> positions, int64_t axis = 0) {
  return tensor_split(x, IntList(positions), axis);
}
/// Splits x into `sections` equal pieces, or at the given positions: hsplit along axis 1 (axis 0 if x is 1-D), vsplit
/// along axis 0, dsplit along axis 2. ShapeError if the size is not divisible or x has too few axes.
std::vector<Tensor> hsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> hsplit(const Tensor& x, const IntList& positions);
inline std::vector<Tensor> hsplit(const Tensor& x, std::initializer_list<int64_t> positions) {
  return hsplit(x, IntList(positions));
}
std::vector<Tensor> vsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> vsplit(const Tensor& x, const IntList& positions);
inline std::vector<Tensor> vsplit(const Tensor& x, std::initializer_list<int64_t> positions) {
  return vsplit(x, IntList(positions));
}
std::vector<Tensor> dsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> dsplit(const Tensor& x, const IntList& positions);
inline std::vector<Tensor> dsplit(const Tensor& x, std::initializer_list<int64_t> positions) {
  return dsplit(x, IntList(positions));
}
/// The slices x[i] along `axis`; they do not have that axis.
std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0);
/// n tensors (1-D or 0-d) give n views of a common n-D shape: out[k][i0, i1, ...] = x[k][ik]. With `indexing` "xy" the
/// first two axes are swapped; Error for any other indexing. ShapeError for tensors with more axes.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing = "ij");
/// All combinations of the elements of n 1-D tensors: (product of the sizes, n). A single tensor is returned unchanged.
Tensor cartesian_prod(const std::vector<Tensor>& tensors);
/// The combinations of r elements of the 1-D tensor x, or with `with_replacement` those in which an element may occur
/// several times: (number of combinations, r), in the order of Python's itertools.combinations. (0) for r = 0, as in
/// PyTorch. ShapeError for other ranks, Error for a negative r.
Tensor combinations(const Tensor& x, int64_t r = 2, bool with_replacement = false);

}  // namespace weft
