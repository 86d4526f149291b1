// One tensor as several views of it, and tensors joined as a grid.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Pieces of the given sizes along `axis`; their sum is its size.
std::vector<Tensor> split(const Tensor& x, const IntList& sizes, int64_t axis = 0);
/// `sections` pieces along `axis`, the first ones larger by one where it does not divide (split and chunk have a
/// smaller last).
std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t axis = 0);
/// The pieces of `axis` before, between and behind the given positions, as slices: [0, p0), [p0, p1), ...
std::vector<Tensor> tensor_split(const Tensor& x, const IntList& positions, int64_t axis = 0);
/// `sections` equal pieces, or those between the given positions, side by side (along axis 1, or the only one), one
/// below the other (axis 0), behind each other (axis 2). ShapeError where the size does not divide, or for fewer axes.
std::vector<Tensor> hsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> hsplit(const Tensor& x, const IntList& positions);
std::vector<Tensor> vsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> vsplit(const Tensor& x, const IntList& positions);
std::vector<Tensor> dsplit(const Tensor& x, int64_t sections);
std::vector<Tensor> dsplit(const Tensor& x, const IntList& positions);
/// The entries of `axis`, without it.
std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0);
/// n 1-d tensors (or of one element) as n views of one shape: out[k][i0, i1, ...] = x[k][ik]. With `indexing` "xy" the
/// first two axes are swapped.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing = "ij");
/// All combinations of the elements of 1-d tensors: (product of sizes, n); of one tensor itself.
Tensor cartesian_prod(const std::vector<Tensor>& tensors);

}  // namespace weft
