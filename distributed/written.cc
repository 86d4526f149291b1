#include "distributed/written.h"

#include "autograd/grad_mode.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/copy.h"

namespace weft::distributed {

std::byte* bytes_of(const Tensor& x) {
  return static_cast<std::byte*>(internal::raw(x)) + x.layout().offset() * static_cast<int64_t>(size_of(x.dtype()));
}

int64_t byte_count(const Tensor& x) { return x.numel() * static_cast<int64_t>(size_of(x.dtype())); }

Tensor row_major(const Tensor& x) {
  NoGrad guard;
  return (x.device().is_cpu() ? x : x.to(Device{})).contiguous().detach();
}

void was_written(const Tensor& x, const char* name) {
  internal::TensorBody& body = internal::body(x);
  body.storage->written_by(name);
  if (body.history == nullptr || body.history->is_leaf()) body.version = body.storage->version();
}

Written::Written(const Tensor& x, const char* name) : x_(x), name_(name) {
  dispatch::check_writable(x, name, false);
  if (x.requires_grad() && !x.is_leaf())
    throw GradientError(text(name,
                             " writes to its tensor, which has a history; x.detach() has none, and functions.h "
                             "has functions that are differentiable"));
  memory_ = row_major(x);
}

void Written::finish() {
  NoGrad guard;
  if (memory_.shares_storage(x_))
    was_written(x_, name_);
  else
    Tensor(x_).copy_(memory_);
}

}  // namespace weft::distributed
