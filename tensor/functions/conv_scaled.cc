#include "tensor/functions/conv_scaled.h"

#include <array>
#include <atomic>
#include <mutex>

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/conv.h"

namespace weft {
namespace {

bool wants_gradient(std::initializer_list<const Tensor*> inputs) {
  if (!internal::modes().recording) return false;
  for (const Tensor* x : inputs)
    if (x->defined() && dispatch::needs_gradient(*x)) return true;
  return false;
}

/// With the checks of the fused op, and as in it all inputs in one dtype.
Tensor composed(const Tensor& x, const Tensor& weight, const ConvScaling& s, const Conv2dOptions& options) {
  (void)op::ConvScaled{options, s.relu}.infer(required_operand(x), required_operand(weight), operand(s.scale),
                                              operand(s.shift), operand(s.residual), {});
  const DType dtype = dispatch::promoted(std::array{x, weight, s.scale, s.shift, s.residual});
  Tensor y = conv2d(cast(x, dtype), cast(weight, dtype), {}, options);
  const DType own = y.dtype();  // under Autocast that of the scope
  const auto of_filters = [&](const Tensor& values) { return cast(reshape(values, {values.numel(), 1, 1}), own); };
  if (s.scale.defined()) y = std::move(y) * of_filters(s.scale);
  if (s.shift.defined()) y = std::move(y) + of_filters(s.shift);
  if (s.residual.defined()) y = std::move(y) + cast(s.residual, own);
  return s.relu ? relu(std::move(y)) : y;
}

/// Bytes that the prepacked weights of all layers take, and the most that they may take.
std::atomic<int64_t> all_packed{0};
constexpr int64_t kMostPacked = int64_t{512} << 20;

}  // namespace

/// The weight that was prepacked, and the result.
struct PrepackedConvWeight::State final : SharedObject {
  std::mutex mutex;
  IntrusivePtr<Storage> source;  // alive, so that no other memory can take its place
  View view;
  uint64_t version = 0;
  int64_t groups = 0;
  Packed packed;

  ~State() { forget(); }
  void forget() {
    if (packed.value.defined()) all_packed -= bytes_of(packed.value.numel());
    packed = {}, source = {};
  }
  static int64_t bytes_of(int64_t elements) { return elements * static_cast<int64_t>(sizeof(float)); }
};

PrepackedConvWeight::PrepackedConvWeight() : state_(IntrusivePtr<SharedObject>::adopt(new State)) {}

PrepackedConvWeight::Packed PrepackedConvWeight::get(const Tensor& weight, const Shape& x,
                                                     const Conv2dOptions& options) const {
  if (!weight.device().is_cpu() || internal::storage(weight).may_change_unseen()) return {};
  const auto op = op::ConvPrepack::for_images(options, x, operand(weight));
  if (op.elements == 0) return {};
  State& s = static_cast<State&>(*state_);
  const std::lock_guard lock(s.mutex);
  const internal::TensorBody& body = internal::body(weight);
  const uint64_t version = body.storage->version();  // before the values are read: a write after this is seen
  if (s.packed.value.defined() && s.source.get() == body.storage.get() && s.version == version && s.view == body.view &&
      s.groups == options.groups && s.packed.layout == op.layout && s.packed.value.numel() == op.elements)
    return s.packed;
  s.forget();
  const int64_t bytes = State::bytes_of(op.elements);
  if (all_packed.fetch_add(bytes) + bytes > kMostPacked) {
    all_packed -= bytes;
    return {};
  }
  try {
    const Tensor value = dispatch::apply(op, weight.detach());
    s.view = body.view;  // may throw; nothing after it does
    s.packed = {value, op.layout};
  } catch (...) {
    all_packed -= bytes;  // nothing was prepacked
    throw;
  }
  s.source = body.storage, s.version = version, s.groups = options.groups;
  return s.packed;
}

Tensor conv2d_scaled(const Tensor& x, const Tensor& weight, const ConvScaling& s, const Conv2dOptions& options,
                     const PrepackedConvWeight* prepacked) {
  ErrorFrame frame("conv2d_scaled", x, weight);
  const auto [in, plain] = detail::padded(x, weight, options);
  if (wants_gradient({&x, &weight, &s.scale, &s.shift, &s.residual})) return composed(in, weight, s, plain);
  const bool packs =
      prepacked != nullptr && x.device().is_cpu() && x.dtype() == weight.dtype() && internal::modes().autocast == f32;
  const PrepackedConvWeight::Packed of_weight =
      packs ? prepacked->get(weight, in.shape(), plain) : PrepackedConvWeight::Packed();
  return dispatch::apply(op::ConvScaled{plain, s.relu, of_weight.layout}, in, weight, s.scale, s.shift, s.residual,
                         of_weight.value);
}

}  // namespace weft
