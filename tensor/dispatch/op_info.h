// OpInfo: the type-erased description of a kind of op: functions that copy, compare and print its descriptor, its
// policy, `infer`, and its CPU kernel. With it, a recorded op can be run again from its AnyOp and operands.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tensor/core/operand.h"
#include "tensor/dispatch/attribute_text.h"
#include "tensor/dispatch/policy.h"

namespace weft {

/// The number of an op in op_list.h.
using OpCode = uint16_t;

/// The code of `Op`. Its value is defined for every op in op_list.h, so that an op missing there does not link.
template <class Op> struct OpCodeOf { static const OpCode value; };

/// A view op: it only maps a View to a View and never copies data.
template <class Op>
concept ViewOp = requires(const Op& op, const View& view) {
  { op.view(view) } -> std::same_as<std::optional<View>>;
};

struct OpInfo {
  std::string_view name;
  const OpCode* code;
  size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* op) noexcept;
  bool (*equal)(const void* a, const void* b);
  std::string (*attributes)(const void* op);  // `axis=1, keepdim=true`
  Policy policy;
  int outputs;
  // View ops have `view`, all others `infer` and `run`.
  std::optional<View> (*view)(const void* op, const View& in);
  /// Fills `outputs` specs.
  void (*infer)(const void* op, Operands in, Spec* out);
  /// The kernel of each device kind. Kernels of devices other than the CPU are provided by their backend (backend.h).
  void (*run[kDeviceKinds])(const void* op, Operands in, Operands out);
};

namespace dispatch {

template <class Op> inline constexpr Policy policy_of = {};
template <class Op>
  requires requires { Op::policy; }
inline constexpr Policy policy_of<Op> = Op::policy;
template <class Op> inline constexpr int outputs_of = 1;
template <class Op>
  requires requires { Op::outputs; }
inline constexpr int outputs_of<Op> = Op::outputs;

/// The number of inputs, derived from the parameters of `infer`; kList for an op that takes a list. View ops have one.
inline constexpr int kList = -1;
template <class F> struct ArityOf;
template <class R, class C, class... A> struct ArityOf<R (C::*)(A...) const> {
  static constexpr int value =
      (0 + ... + (std::is_same_v<A, Operands> ? 1000 : 1)) >= 1000 ? kList : static_cast<int>(sizeof...(A));
};
template <class Op> inline constexpr int inputs_of = 1;
template <class Op>
  requires requires { &Op::infer; }
inline constexpr int inputs_of<Op> = ArityOf<decltype(&Op::infer)>::value;

/// Calls `f(x0, x1, ...)` with the operands of an op, or `f(list)` for an op that takes a list.
template <class Op, class F> decltype(auto) with_inputs(Operands in, F&& f) {
  if constexpr (inputs_of<Op> == kList)
    return f(in);
  else
    return [&]<size_t... I>(std::index_sequence<I...>)->decltype(auto) { return f(in[I]...); }
  (std::make_index_sequence<static_cast<size_t>(inputs_of<Op>)>());
}

template <class Op> std::string erased_attributes(const void* erased) {
  std::string out;
  static_cast<const Op*>(erased)->attributes([&](std::string_view name, const auto& value) {
    using weft::detail::attribute_text;
    weft::detail::append_attribute(out, name, attribute_text(value));
  });
  return out;
}
template <class Op> void erased_infer(const void* erased, Operands in, Spec* out) {
  const Op& op = *static_cast<const Op*>(erased);
  with_inputs<Op>(in, [&](const auto&... x) {
    if constexpr (outputs_of<Op> == 0) {
      op.infer(x...);
    } else if constexpr (outputs_of<Op> == 1) {
      *out = op.infer(x...);
    } else {
      auto specs = op.infer(x...);
      for (size_t i = 0; i < specs.size(); ++i) out[i] = std::move(specs[i]);
    }
  });
}
template <class Op> void erased_run(const void* erased, Operands in, Operands out) {
  const Op& op = *static_cast<const Op*>(erased);
  with_inputs<Op>(in, [&](const auto&... x) {
    [&]<size_t... I>(std::index_sequence<I...>) { op.cpu(x..., out[I]...); }
    (std::make_index_sequence<static_cast<size_t>(outputs_of<Op>)>());
  });
}

template <class Op> constexpr OpInfo make_info() {
  OpInfo info = {
      Op::name,
      &OpCodeOf<Op>::value,
      sizeof(Op),
      [](void* to, const void* from) { new (to) Op(*static_cast<const Op*>(from)); },
      [](void* op) noexcept { static_cast<Op*>(op)->~Op(); },
      [](const void* a, const void* b) { return *static_cast<const Op*>(a) == *static_cast<const Op*>(b); },
      &erased_attributes<Op>,
      policy_of<Op>,
      outputs_of<Op>,
      nullptr,
      nullptr,
      {},
  };
  if constexpr (ViewOp<Op>) {
    info.view = [](const void* op, const View& in) { return static_cast<const Op*>(op)->view(in); };
  } else {
    info.infer = &erased_infer<Op>;
    info.run[0] = &erased_run<Op>;
  }
  return info;
}

}  // namespace dispatch

template <class Op> inline constexpr OpInfo op_info = dispatch::make_info<Op>();

}  // namespace weft
