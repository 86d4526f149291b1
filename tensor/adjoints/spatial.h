// Ops on images, applied to what has one axis or three: shared by pooling and resampling.
#pragma once

#include "tensor/functions/view.h"

namespace weft::adjoint {

/// f(x) of a batch, where x, with `axes` axes after the channels, may be without a batch axis.
template <class F> Tensor for_batch(const Tensor& x, int64_t axes, const F& f) {
  return x.rank() == axes + 1 ? squeeze(f(unsqueeze(x, 0)), 0) : f(x);
}

/// f((.., C, 1, L)) of x (.., C, L).
template <class F> Tensor for_line(const Tensor& x, const F& f) { return squeeze(f(unsqueeze(x, -2)), -2); }

/// The same for values and indices.
template <class F> ValuesAndIndices find_in_batch(const Tensor& x, int64_t axes, const F& f) {
  if (x.rank() != axes + 1) return f(x);
  const ValuesAndIndices found = f(unsqueeze(x, 0));
  return {squeeze(found.values, 0), squeeze(found.indices, 0)};
}
template <class F> ValuesAndIndices find_in_line(const Tensor& x, const F& f) {
  const ValuesAndIndices found = f(unsqueeze(x, -2));
  return {squeeze(found.values, -2), squeeze(found.indices, -2)};
}

/// f(planes) of x (N, C, D, H, W), whose depth joins the batch or the channels, whichever is a view.
template <class F> Tensor for_planes(const Tensor& x, const F& f) {
  if (x.is_contiguous()) return unflatten(f(flatten(x, 1, 2)), 1, {x.size(1), x.size(2)});
  return movedim(unflatten(f(flatten(movedim(x, 2, 1), 0, 1)), 0, {x.size(0), x.size(2)}), 1, 2);
}

/// f((N, C, D, H W)) of x (N, C, D, H, W).
template <class F> Tensor for_depth(const Tensor& x, const F& f) {
  return unflatten(f(flatten(x, 3, 4)), 3, {x.size(3), x.size(4)});
}

}  // namespace weft::adjoint
