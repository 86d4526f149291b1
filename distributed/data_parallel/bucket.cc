#include "distributed/data_parallel/bucket.h"

#include <cstring>

#include "autograd/grad_mode.h"
#include "autograd/gradient_buffer.h"
#include "distributed/written.h"
#include "tensor/core/half.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::distributed {
namespace {

constexpr int64_t kAlignment = 64;  // bytes: a gradient begins where vectors and cache lines do

/// A tensor over the caller's part of a window, which lives as long as the tensor; and so does the group.
Tensor over_window(const std::shared_ptr<Communicator>& group, const std::shared_ptr<Window>& window, std::byte* at,
                   int64_t elements, DType dtype) {
  struct Owners {
    std::shared_ptr<Communicator> group;
    std::shared_ptr<Window> window;
  };
  auto owners = std::make_unique<Owners>(Owners{group, window});
  const auto release = [](void* context) { delete static_cast<Owners*>(context); };
  // (Where wrap() finds no memory, it releases them itself.)
  IntrusivePtr<Storage> storage =
      Storage::wrap(at, static_cast<size_t>(elements) * size_of(dtype), release, owners.release());
  return internal::make_tensor(std::move(storage), View::contiguous({elements}), dtype);
}

}  // namespace

Bucket::Bucket(Communicator& group, std::vector<Tensor> parameters, Wire wire, int tag)
    : group_(group),
      parameters_(std::move(parameters)),
      width_(static_cast<int64_t>(size_of(parameters_[0].dtype()))),
      dtype_(parameters_[0].dtype()),
      wire_(dtype_ == DType::f32 ? wire : Wire::exact),
      tag_(tag) {
  const int64_t step = kAlignment / width_;
  for (const Tensor& parameter : parameters_) {
    offsets_.push_back(elements_);
    elements_ += (parameter.numel() + step - 1) / step * step;
  }
  flags_ = elements_;
  elements_ += (static_cast<int64_t>(parameters_.size()) + step - 1) / step * step;
}

Bucket::Header& Bucket::header(int rank) const {
  return *reinterpret_cast<Header*>(window_->of(rank) + window_offset_);
}
std::byte* Bucket::data(int rank) const { return window_->of(rank) + window_offset_ + sizeof(Header); }

void Bucket::attach(const std::shared_ptr<Communicator>& group, const std::shared_ptr<Window>& window, int64_t offset) {
  NoGrad guard;
  window_ = window;
  window_offset_ = offset;
  flat_ = window == nullptr ? zeros({elements_}, dtype_)
                            : over_window(group, window, data(group->rank()), elements_, dtype_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    // A gradient has its leaf's memory order.
    const bool dense = parameter.layout().is_dense();
    const Tensor part = flat_.narrow(0, offsets_[i], parameter.numel());
    views_.push_back(dense ? as_strided(part, parameter.shape(), parameter.strides()) : part.view(parameter.shape()));
    autograd::set_gradient_buffer(parameter, views_.back());
  }
}

void Bucket::detach() {
  for (const Tensor& parameter : parameters_) autograd::set_gradient_buffer(parameter, Tensor());
}

void Bucket::gather_unused() {
  NoGrad guard;
  std::vector<double> used;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    used.push_back(gradient.defined() ? 1 : 0);
    if (!gradient.defined())
      views_[i].fill_(0);
    else if (!gradient.is_same(views_[i]))
      copy_into_bucket(i, gradient);
  }
  flat_.narrow(0, flags_, static_cast<int64_t>(used.size())).copy_(Tensor::from(used));
}

void Bucket::copy_into_bucket(size_t index, const Tensor& gradient) const {
  Tensor parameter = parameters_[index];
  if (gradient.requires_grad() || gradient.dtype() != dtype_ || !autograd::has_gradient_buffer(parameter))
    throw GradientError(text("DataParallel: the gradient of `", parameter.name(), "` ",
                             gradient.requires_grad()
                                 ? "has a history (create_graph); a gradient that is reduced has none"
                                 : "is no longer in its bucket, since the parameter got another dtype or device "
                                   "after DataParallel was made"));
  parameter.set_grad(gradient);
}

void Bucket::round_to_wire(std::byte* from, int64_t count) const {
  if (wire_ == Wire::exact) return;
  auto* values = reinterpret_cast<float*>(from);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(BFloat16(values[i]));
}

void Bucket::start(const Signature& what) {
  gather_unused();
  what_ = what;
  started_ = true;
  done_ = reduced_ = false;
  ++number_;
  if (window_ == nullptr) return start_messages();
  round_to_wire(data(group_.rank()), elements_);
  header(group_.rank()).samples.store(what_.shape[0], std::memory_order_relaxed);
  header(group_.rank()).ready.store(number_, std::memory_order_release);
}

void Bucket::start_messages() {
  NoGrad guard;
  sent_ = wire_ == Wire::exact ? flat_ : cast(flat_, bf16);
  Collective collective =
      all_reduce_of(group_.rank_in_group(), ReduceOp::mean, sent_.dtype(), bytes_of(sent_), elements_);
  collective.signature = what_;
  collective.signature.number = number_;
  messages_ = group_.start(std::move(collective), tag_);
}

bool Bucket::progress() {
  if (done_) return true;
  if (window_ == nullptr) {
    if (!messages_->progress()) return false;
    NoGrad guard;
    if (wire_ != Wire::exact) flat_.copy_(sent_);
    sent_ = Tensor();
  } else {
    if (!reduced_) {
      for (int rank = 0; rank < group_.size(); ++rank)
        if (header(rank).ready.load(std::memory_order_acquire) < number_) return false;
      check_samples();
      reduce_slice();
      reduced_ = true;
      header(group_.rank()).done.store(number_, std::memory_order_release);
    }
    for (int rank = 0; rank < group_.size(); ++rank)
      if (header(rank).done.load(std::memory_order_acquire) < number_) return false;
  }
  was_written(flat_, "all_reduce");
  for (const Tensor& view : views_) internal::body(view).version = internal::body(flat_).version;
  return done_ = true;
}

void Bucket::check_samples() const {
  for (int rank = 0; rank < group_.size(); ++rank) {
    Signature other = what_;
    other.shape[0] = header(rank).samples.load(std::memory_order_relaxed);
    if (!(other == what_)) group_.fail(what_, text("rank ", rank, " is in ", other.to_string()));
  }
}

void Bucket::reduce_slice() {
  const auto own = static_cast<size_t>(group_.rank()), size = static_cast<size_t>(group_.size());
  // Whole cache lines: two ranks that wrote to one would pass it to and fro.
  const int64_t lines = elements_ * width_ / kAlignment;
  const int64_t begin = lines * group_.rank() / group_.size() * kAlignment;
  const int64_t bytes = lines * (group_.rank() + 1) / group_.size() * kAlignment - begin;
  std::vector<std::byte*> to(size);
  for (size_t rank = 0; rank < size; ++rank) to[rank] = data(static_cast<int>(rank)) + begin;
  const std::vector<const std::byte*> from(to.begin(), to.end());
  if (wire_ == Wire::exact) return reduce(ReduceOp::mean, dtype_, from, to, bytes / width_);
  reduce(ReduceOp::mean, dtype_, from, to[own], bytes / width_);
  round_to_wire(to[own], bytes / width_);
  for (size_t rank = 0; rank < size; ++rank)
    if (rank != own) std::memcpy(to[rank], to[own], static_cast<size_t>(bytes));
}

std::vector<int> Bucket::missing() const {
  std::vector<int> out;
  if (window_ != nullptr)
    for (int rank = 0; rank < group_.size(); ++rank)
      if ((reduced_ ? header(rank).done : header(rank).ready).load(std::memory_order_acquire) < number_)
        out.push_back(rank);
  return window_ != nullptr || messages_ == nullptr ? out : messages_->missing();
}

void Bucket::set_unused_gradients() {
  NoGrad guard;
  const std::vector<float> used = flat_.narrow(0, flags_, static_cast<int64_t>(parameters_.size())).to_vector<float>();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (used[i] > 0 && !parameters_[i].grad().defined()) parameters_[i].set_grad(views_[i]);
}

}  // namespace weft::distributed
