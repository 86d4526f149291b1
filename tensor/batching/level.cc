#include "tensor/batching/level.h"

#include <algorithm>
#include <atomic>

#include "tensor/batching/rule.h"
#include "tensor/batching/value.h"
#include "tensor/dispatch/backend.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/dropout.h"
#include "tensor/ops/fill.h"
#include "tensor/ops/random.h"
#include "tensor/ops/stochastic_cast.h"
#include "tensor/runtime/thread_object.h"

namespace weft {
namespace batching {
namespace {

std::vector<Level>& levels() {
  return detail::thread_object<Level>([] { return std::vector<Level>(); });
}

[[noreturn]] void throw_ended() {
  throw Error("a tensor was kept from inside a vmap that has ended; return it from the function instead");
}

Value& value_of(int number, const Operand& x) {
  Value& value = *static_cast<Value*>(x.base);
  const Level& level = level_of(number);
  const int64_t elements = value.elements(x.dtype);
  if (value.empty())  // memory that was never written (empty_like)
    value.set(level.id, {dispatch::apply(op::Full{View::contiguous({elements}), 0, x.dtype, level.below}), false},
              View::contiguous({elements}));
  if (value.level() != level.id) throw_ended();
  return value;
}

template <class Op, class F> bool draws(const OpInfo& info, const void* op, const F& offset_of) {
  if (&info != &op_info<Op>) return false;
  uint64_t offset = offset_of(*static_cast<const Op*>(op));
  return dispatch::take_mark(offset);
}
/// Whether the op gives each sample random numbers of its own, so that samples differ where its inputs do not.
bool draws_own_numbers(const OpInfo& info, const void* op) {
  const auto own = [](const auto& x) { return x.offset; };
  const auto setting = [](const auto& x) { return x.setting.dropout_p > 0 ? x.setting.key.offset : 0; };
  return draws<op::Dropout>(info, op, own) || draws<op::RandomFill>(info, op, own) ||
         draws<op::StochasticCast>(info, op, own) || draws<op::Multinomial>(info, op, own) ||
         draws<op::Poisson>(info, op, own) || draws<op::Attention>(info, op, setting) ||
         draws<op::AttentionBackward>(info, op, setting);
}

bool is_recorded(int number, Operands in) {
  return internal::modes().recording && std::any_of(in.begin(), in.end(), [&](const Operand& x) {
           return x.defined() && value_of(number, x).needs_gradient();
         });
}

[[noreturn]] void throw_values() {
  throw DeviceError(
      "inside vmap a tensor has other values in each sample, so that they cannot be read, nor shapes and branches "
      "depend on them; use where(), or return the tensor and read it outside");
}

/// Runs kernels on batches.
class BatchBackend final : public Backend {
 public:
  int count() const override { return 255; }
  void* allocate(int, size_t bytes) override { return new Value(bytes); }
  void free(int, void* memory, size_t) noexcept override { delete static_cast<Value*>(memory); }
  void copy_from_host(int, void*, const void*, size_t) override { throw_values(); }
  void copy_to_host(int, void*, const void*, size_t) override { throw_values(); }

  void run(int number, const OpInfo& info, const void* op, Operands in, Operands out) override {
    const internal::ModeScope prepared(&internal::Modes::autocast, f32);
    const Level level = level_of(number);
    if (info.code == op_info<op::AddInto>.code)
      return value_of(number, in[0]).add(*in[0].view, batch_behind(number, in[1]), level.size);
    if (out.empty()) throw Error(text("`", info.name, "` writes to its inputs, which vmap cannot do"));
    if (info.code == op_info<op::CopyFrom>.code) {  // does not read the old values of in[0]
      const Batch source = batch_behind(number, in[1]);
      // A cast to the same dtype is no copy: a later write to either would change both.
      const Tensor copy = dispatch::unshared(cast(source.x, out[0].dtype), source.x);
      return store(number, out[0], {copy, source.batched});
    }
    if (!in.empty() && in[0].base == out[0].base && is_recorded(number, in)) value_of(number, out[0]).keep_old_values();
    std::vector<Batch> inputs;
    bool batched = draws_own_numbers(info, op);
    for (const Operand& x : in) {
      inputs.push_back(x.defined() ? batch_behind(number, x) : Batch());
      batched = batched || inputs.back().batched;
    }
    const Call call{info, op, level, inputs};
    const std::vector<Tensor> results = batched ? rule_of(*info.code)(call) : call.apply(inputs);
    for (size_t i = 0; i < out.size(); ++i) store(number, out[i], {results[i], batched});
  }
};

void register_once() {
  static BatchBackend* const backend = [] {
    auto* const made = new BatchBackend;  // lives as long as the process
    register_backend(DeviceKind::vmap, made);
    return made;
  }();
  (void)backend;
}

}  // namespace

const Level& level_of(int number) {
  if (static_cast<size_t>(number) >= levels().size()) throw_ended();
  return levels()[static_cast<size_t>(number)];
}

bool is_running(const Tensor& x) {
  const auto number = static_cast<size_t>(x.device().index);
  const Value& value = *static_cast<const Value*>(internal::storage(x).data());
  return number < levels().size() && (value.empty() || value.level() == levels()[number].id);
}

LevelScope::LevelScope(int64_t size, Device below) : device_(Device::vmap(static_cast<int>(levels().size()))) {
  static std::atomic<uint64_t> last{0};
  constexpr size_t kDeepest = 255;
  if (levels().size() == kDeepest) throw Error("vmap is nested 255 deep; that is as far as it goes");
  register_once();
  levels().push_back({++last, size, below});
}
LevelScope::~LevelScope() { levels().pop_back(); }

Tensor sample_of(Device device, const Batch& batch) {
  const Level& level = level_of(device.index);
  Tensor x = batch.x;
  const auto sample_view = [&] {
    Shape shape;
    Strides strides;
    for (int64_t axis = batch.batched ? 1 : 0; axis < x.rank(); ++axis) {
      shape.push_back(x.size(axis));
      strides.push_back(x.layout().stride(axis));
    }
    return View::create(shape, strides);
  };
  View view = sample_view();
  if (x.layout().has_mask() || !view.is_dense()) {
    x = dispatch::apply(op::Contiguous{}, x);
    view = sample_view();
  }
  IntrusivePtr<Storage> storage = dispatch::allocate_storage({view, x.dtype()}, device);
  static_cast<Value*>(storage->data())->set(level.id, {x, batch.batched}, view);
  return internal::make_tensor(std::move(storage), view, x.dtype());
}

Batch batch_behind(int number, const Operand& x) { return value_of(number, x).through(*x.view); }

void store(int number, const Operand& out, const Batch& batch) {
  Value& value = *static_cast<Value*>(out.base);
  const Level& level = level_of(number);
  const View& view = *out.view;
  const int64_t elements = value.elements(out.dtype);
  const bool whole = view.numel() == elements && (elements == 0 || (view.offset() == 0 && view.is_dense()));
  const bool loses_history = value.loses_history();
  if (whole)
    value.set(level.id, batch, view);
  else
    value_of(number, out).write(view, batch, level.size);
  if (loses_history) value.set_history_lost();
}

std::vector<Tensor> apply_erased(const OpInfo& info, const void* op, std::span<const Tensor> inputs, Device device) {
  if (info.view != nullptr) return {dispatch::apply_view(info, op, info.view(op, inputs[0].layout()), inputs[0])};
  std::vector<Tensor> ready(inputs.begin(), inputs.end());
  std::vector<Tensor> results(static_cast<size_t>(info.outputs));
  dispatch::apply_erased(info, op, ready, results, device);
  return results;
}

}  // namespace batching

Device dispatch::deepest_device(std::span<const Tensor> inputs) {
  const Tensor* out = nullptr;
  const auto depth = [](const Tensor& x) { return x.device().kind == DeviceKind::vmap ? x.device().index : -1; };
  for (const Tensor& x : inputs)
    if (x.defined() && (out == nullptr || depth(x) > depth(*out))) out = &x;
  return out != nullptr ? out->device() : Device();
}

bool dispatch::lift_to_samples(std::span<Tensor> inputs) {
  const Device deepest = deepest_device(inputs);
  if (deepest.kind != DeviceKind::vmap) return false;
  for (Tensor& x : inputs)
    if (x.defined() && x.device() != deepest) x = lifted(x, deepest);
  return true;
}

Tensor dispatch::lifted(const Tensor& x, Device device) {
  if (x.device().kind == DeviceKind::vmap && x.device().index > device.index)
    throw DeviceError(text("a sample of an inner vmap cannot be written to ", name_of(device),
                           "; it would differ between that vmap's samples"));
  // The batch below keeps its history; the sample's is this op.
  Tensor out = batching::sample_of(device, {x, false});
  if (!has_history(x)) return out;
  const op::Lift op{device};
  const Tensor* input = &x;
  const OpCall call{op_info<op::Lift>, &op, {&input, 1}, {&out, 1}};
  if (is_observed()) observe(call);
  record(call);
  return out;
}

RandomKey dispatch::key_on(Device device, int64_t count, Generator& generator) {
  if (device.kind != DeviceKind::vmap) return generator.next_key(count);
  constexpr int kMostMarks = 7;
  const int vmaps = std::min(device.index + 1, kMostMarks);
  for (int i = 0; i < vmaps; ++i) count = checked_multiply(count, batching::level_of(device.index - i).size);
  RandomKey key = generator.next_key(count);
  key.offset += static_cast<uint64_t>(vmaps) << 60;
  return key;
}

bool dispatch::needs_gradient(const Tensor& x) {
  if (x.requires_grad()) return true;
  return x.device().kind == DeviceKind::vmap && needs_gradient(batching::batch_behind(x).x);
}

Tensor dispatch::all_samples(const Tensor& x) {
  const internal::ModeScope values_alone(&internal::Modes::recording, false);
  Tensor out = x;
  while (out.device().kind == DeviceKind::vmap) out = batching::batch_behind(out).x;
  return out.detach();
}

Tensor dispatch::same_in_all_samples(const Tensor& x) {
  const internal::ModeScope values_alone(&internal::Modes::recording, false);
  const batching::Batch batch = batching::batch_behind(x);
  if (batch.batched) batching::throw_values();
  return batch.x.detach();
}

void dispatch::check_shape_is_known(const Tensor& x, std::string_view instead) {
  if (x.device().kind == DeviceKind::vmap && batching::batch_behind(x).batched)
    throw DeviceError(text("the result's shape depends on values, which differ between vmap's samples; ", instead));
}

Tensor dispatch::copy_to_write(const Tensor& x, std::span<const Tensor* const> others) {
  std::vector<Tensor> list = {x};
  for (const Tensor* other : others) list.push_back(*other);
  lift_to_samples(list);
  return clone(list[0]);
}

Tensor dispatch::detached_sample(const Tensor& x) {
  const internal::ModeScope values_alone(&internal::Modes::recording, false);
  const batching::Batch batch = batching::batch_behind(x);
  return batching::sample_of(x.device(), {batch.x.detach(), batch.batched});
}

}  // namespace weft
