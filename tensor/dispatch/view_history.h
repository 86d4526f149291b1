// The history of views and their bases when one of them is written in place.
//
// A view knows its base: the tensor, itself not a view, whose memory it shares. A recorded write through a view gives
// new histories to the view and to the base; that of the base is its old value with the part of the view replaced
// (as_strided_scatter). The histories of all other views of this base are then stale. A stale view takes its history
// from the base (as_strided) when it is used next. So the cost of a write is proportional to the number of elements
// written, forward and backward (autograd/run.h), and does not depend on the size of the base.
//
// Known limits: the part cannot be expressed by strides if the base's elements have gaps in memory or the view is
// padded. Such tensors stay stale, and their next use is an error. The same holds after writes that were not recorded
// or that went through detach().
#pragma once

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// The base of a view; null if it is none, or if its base has other memory by now (module.to(), functional_call()).
inline const internal::TensorBody* base_in_memory(const internal::TensorBody& view) {
  return view.base && view.base->storage == view.storage ? view.base.get() : nullptr;
}
/// The base of the views of `x`: the base of x if x is a view, else x itself.
const IntrusivePtr<internal::TensorBody>& base_of(const Tensor& x);
/// Whether x's history is stale: its memory was written to since. If an unrecorded write did no harm, updates the
/// recorded version of x and returns false.
bool is_stale(const Tensor& x);
/// Derives the history of a stale view from that of its base; false if that is not possible.
bool derive_history(const Tensor& view);
/// Sets the new history of the base of `view` after a recorded write to `view`.
void write_into_base(const Tensor& view);

}  // namespace weft::dispatch
