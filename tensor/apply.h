// The door: every op passes through apply(op, inputs...). It checks the inputs, takes a view or runs the kernel, and
// records. Ops are dispatched statically; their type is erased only when somebody records or observes.
//
// A compute op has
//   Spec infer(const Tensor&...) const;                    checks shapes and dtypes, says what the result is
//   void run(const Tensor&..., Tensor& out) const;         fills it            (several outputs: std::array<Spec, N>
//                                                          and std::array<Tensor, N>& out; `static constexpr int outputs`)
// where a list op (cat) takes std::span<const Tensor>. A view op has only
//   std::optional<View> view(const View& in) const;
// Optional traits: `static constexpr bool reads_masked = true` (kernels read padded views themselves),
// `static constexpr uint32_t optional_inputs = mask` (inputs that may be undefined).
#pragma once

#include <array>
#include <concepts>
#include <span>

#include "tensor/any_op.h"
#include "tensor/modes.h"
#include "tensor/tensor.h"

namespace weft {

/// What an op will produce: how it lies in memory, and its dtype.
struct Spec {
  View view;
  DType dtype;
};

namespace detail {

template <class Op>
inline constexpr int outputs_of = 1;
template <class Op>
  requires requires { Op::outputs; }
inline constexpr int outputs_of<Op> = Op::outputs;
/// One Tensor, or an array of them where there are several outputs.
template <class Op>
using ResultOf =
    std::conditional_t<outputs_of<Op> == 1, Tensor, std::array<Tensor, static_cast<size_t>(outputs_of<Op>)>>;
template <class Op>
inline constexpr bool reads_masked = false;
template <class Op>
  requires requires { Op::reads_masked; }
inline constexpr bool reads_masked<Op> = Op::reads_masked;
template <class Op>
inline constexpr uint32_t optional_inputs = 0;
template <class Op>
  requires requires { Op::optional_inputs; }
inline constexpr uint32_t optional_inputs<Op> = Op::optional_inputs;

/// The values of `from` into `to` (same shape, cast), without any record.
void copy_memory(const Tensor& from, const Tensor& to);
/// Adds `x` into the part of `buffer`'s memory that `part` describes, without any record; the part may overlap itself.
void add_memory(const Tensor& x, const Tensor& buffer, const View& part);
/// Throws GradientError where `x` has a history that its memory no longer agrees with.
void check_version(const Tensor& x);
inline void check_input(const Tensor& x) {
  const TensorBody& body = x.body();
  if (body.version != body.storage->version()) [[unlikely]]
    check_version(x);
}
/// A copy without a mask (a recorded op).
Tensor unmasked(const Tensor& x);
inline bool is_masked(const Tensor& x) { return x.defined() && x.layout().has_mask(); }
inline Tensor or_unmasked(const Tensor& x) { return is_masked(x) ? unmasked(x) : x; }

/// History, cut marks and observers of what just ran.
void record(const OpInfo& info, const void* op, std::span<const Tensor* const> inputs, std::span<Tensor> outputs);

inline Tensor allocate(const Spec& spec) {
  const size_t bytes = static_cast<size_t>(spec.view.numel()) * size_of(spec.dtype);
  return Tensor(Storage::allocate(bytes), spec.view, spec.dtype);
}

template <class Op>
void after(const Op& op, std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
  bool history = false;
  if (modes().observer == nullptr) {
    for (const Tensor* x : inputs)
      history |= x->defined() && (x->body().history != nullptr || x->body().cut != nullptr);
    if (!history) return;
  }
  record(op_info<Op>, &op, inputs, outputs);
}

[[noreturn]] void throw_not_expressible(const OpInfo& info, const Tensor& x);

}  // namespace detail

/// A view op. Throws ShapeError where strides cannot express it.
template <ViewOp Op>
Tensor apply(const Op& op, const Tensor& x) {
  // detach() is the way out where a history is no longer true.
  if (!std::same_as<Op, op::Detach> && modes().recording) detail::check_input(x);
  std::optional<View> view = op.view(x.layout());
  if (!view) [[unlikely]] {
    if (!x.layout().has_mask()) detail::throw_not_expressible(op_info<Op>, x);
    return apply(op, detail::unmasked(x));
  }
  Tensor out(x.storage_ptr(), *std::move(view), x.dtype());
  const Tensor* input = &x;
  detail::after(op, {&input, 1}, {&out, 1});
  return out;
}

/// A compute op with a fixed number of inputs: one Tensor, or std::array<Tensor, N> where it has several outputs.
template <class Op, std::same_as<Tensor>... Inputs>
  requires(!ViewOp<Op>)
detail::ResultOf<Op> apply(const Op& op, const Inputs&... inputs) {
  if constexpr (!detail::reads_masked<Op> && sizeof...(Inputs) > 0) {
    if ((detail::is_masked(inputs) || ...)) [[unlikely]]
      return apply(op, detail::or_unmasked(inputs)...);
  }
  uint32_t position = 0;
  [[maybe_unused]] auto check = [&](const Tensor& x) {
    const bool optional = (detail::optional_inputs<Op> >> position++) & 1u;
    if (optional && !x.defined()) return;
    if (modes().recording)
      detail::check_input(x);
    else
      (void)x.body();  // throws where it is undefined
  };
  (check(inputs), ...);
  const std::array<const Tensor*, sizeof...(Inputs)> pointers = {&inputs...};
  if constexpr (detail::outputs_of<Op> == 1) {
    Tensor out = detail::allocate(op.infer(inputs...));
    op.run(inputs..., out);
    detail::after(op, pointers, {&out, 1});
    return out;
  } else {
    const std::array<Spec, Op::outputs> specs = op.infer(inputs...);
    std::array<Tensor, Op::outputs> out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = detail::allocate(specs[i]);
    op.run(inputs..., out);
    detail::after(op, pointers, out);
    return out;
  }
}

/// A compute op over a list of inputs.
template <class Op>
Tensor apply_list(const Op& op, std::span<const Tensor> inputs) {
  std::vector<Tensor> ready(inputs.begin(), inputs.end());
  std::vector<const Tensor*> pointers;
  for (Tensor& x : ready) {
    if (detail::is_masked(x) && !detail::reads_masked<Op>) x = detail::unmasked(x);
    if (modes().recording) detail::check_input(x);
    pointers.push_back(&x);
  }
  Tensor out = detail::allocate(op.infer(std::span<const Tensor>(ready)));
  op.run(std::span<const Tensor>(ready), out);
  detail::after(op, pointers, {&out, 1});
  return out;
}

/// A view op whose type is erased (the adjoint of a view, when it is differentiated again).
Tensor apply_view(const AnyOp& op, const Tensor& x);

namespace detail {
/// What has to hold before `self` is written by the op called `name`: unmasked, no overlap with itself, not a leaf (or a
/// view of one) that requires a gradient while recording. Returns whether the write will be recorded.
bool check_writable(const Tensor& self, std::string_view name, bool others_require_grad);
/// `other`, or a copy of it where it overlaps `self` other than element for element.
Tensor without_overlap(const Tensor& self, const Tensor& other);
/// The old history of `self` as a tensor of its own, for the record.
Tensor before_write(const Tensor& self);
/// Raises the version, and gives `self` (every handle of it) its new history where the write is recorded.
void after_write(Tensor& self, const OpInfo& info, const void* op, const char* name,
                 std::span<const Tensor* const> inputs, bool recorded);
[[noreturn]] void throw_in_place_result(const Tensor& self, const Spec& spec);
/// Whether the kernel may write straight into `self`.
bool check_in_place_result(const Tensor& self, const Spec& spec);
}  // namespace detail

/// An element-wise op written into its first input, `name` being the public function (`add_`): recorded as the op, with
/// the old value of `self` as its input, when there is history. The result must have self's shape; it is cast to self's
/// dtype.
template <class Op, std::same_as<Tensor>... Others>
Tensor& apply_in_place(const Op& op, const char* name, Tensor& self, const Others&... others) {
  const bool history = (false || ... || others.requires_grad());
  const bool recorded = detail::check_writable(self, name, history);
  if (modes().recording) (detail::check_input(self), ..., detail::check_input(others));
  auto write = [&](const auto&... ready) {
    const Tensor old = recorded ? detail::before_write(self) : self;
    const Spec spec = op.infer(old, ready...);
    if (detail::check_in_place_result(self, spec)) {
      op.run(old, ready..., self);
    } else {
      Tensor result = detail::allocate(spec);
      op.run(old, ready..., result);
      detail::copy_memory(result, self);
    }
    // `x.add_(x)`: self is about to lose its old history, `old` has it.
    const std::array<const Tensor*, 1 + sizeof...(Others)> inputs = {&old, ready.is_same(self) ? &old : &ready...};
    detail::after_write(self, op_info<Op>, &op, name, inputs, recorded);
  };
  write(detail::without_overlap(self, others)...);
  return self;
}

}  // namespace weft
