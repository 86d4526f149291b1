#include "distributed/written.h"

#include "autograd/grad_mode.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/copy.h"

namespace weft::distributed {

std::byte* bytes_of(const Tensor& x) { return reinterpret_cast<std::byte*>(internal::first_byte(x)); }

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
  memory_ = internal::host_row_major(x);
}

void Written::finish() {
  NoGrad guard;
  if (memory_.shares_storage(x_))
    was_written(x_, name_);
  else
    Tensor(x_).copy_(memory_);
}

Watch::Watch(const std::vector<Tensor>& tensors) {
  for (const Tensor& x : tensors) {
    const Storage& storage = internal::storage(x);
    if (x.nbytes() != static_cast<int64_t>(storage.bytes())) continue;
    tensors_.push_back(x.detach());
    versions_.push_back(storage.version());
  }
}

const Tensor* Watch::written() const {
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (internal::storage(tensors_[i]).version() != versions_[i]) return &tensors_[i];
  return nullptr;
}

Work Work::State::start(std::shared_ptr<Communicator> group, std::vector<Tensor> tensors,
                        std::shared_ptr<Written> written, const std::function<std::shared_ptr<Progressive>()>& begin) {
  if (written) tensors.push_back(written->target());
  Work out;
  out.state_ = std::make_shared<State>(State{std::move(group), nullptr, std::move(written), Watch(tensors)});
  out.state_->work = begin();  // last: nothing fails once the other ranks may have its messages
  return out;
}

}  // namespace weft::distributed
