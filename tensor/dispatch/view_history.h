// The history of views and of what they are views of, when one of them is written in place.
//
// A view knows its base: the tensor, itself no view, whose memory it shows. A recorded write through the view gives
// the view its new history, and the base one as well: its old value with the view's part replaced
// (as_strided_scatter). All other views of that base are now behind; each takes its history from the base when it is
// used next (as_strided). So a write costs what it writes, forward and backward (autograd/run.h), however large the
// base is.
//
// Known limits: a base whose elements have gaps, or a padded view, cannot be told apart by strides: they stay behind,
// and their next use is an error, as it is after writes that were not recorded or came through detach().
#pragma once

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// What views of `x` are views of.
const IntrusivePtr<internal::TensorBody>& base_of(const Tensor& x);
/// Whether x's history is no longer true of its memory. Notes that it is where an unrecorded write did no harm.
bool is_stale(const Tensor& x);
/// Gives a stale view the history that follows from its base's; false where that is not possible.
bool derive_history(const Tensor& view);
/// Gives the base of `view`, to which a recorded write just went, its new history.
void write_into_base(const Tensor& view);

}  // namespace weft::dispatch
