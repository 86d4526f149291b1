// Gradient rules: one rule per op, in autograd/rules/<family>.h.
//
//   WEFT_GRADIENT(Mul) = per_input(
//       [](Grad g, Input<1> b) { return g * b; },
//       [](Grad g, Input<0> a) { return g * a; });
//
// The parameter types of a rule declare what it reads. Only that is saved, and only for inputs that need a gradient:
//   const op::X&    the descriptor              Grad, GradOf<I>     the gradient of output 0, I (may be undefined)
//   Input<I>        the value of input I        Output, OutputOf<I> the value of output 0, I
//   ViewOf<I>       the View of input I         Needs               which inputs need a gradient
//   InputType<I>    the shape and dtype of input I, which must need a gradient
//   IfRecording<I>  the value of input I where the run records or is one of vmap, otherwise a tensor like it whose
//                   values are not read
//   Views           the views of all inputs (list ops)
//   Into<I>         memory for the gradient of input I (placement.h); undefined if the rule should make a new tensor
// A rule returns the gradient, or an undefined Tensor for zero. Rules use only public ops, so that they can be
// differentiated again. An op that is given std::move(g) may write its result over g, which saves memory.
//
//   per_input(f0, f1, ...)   one function per input; no_gradient for inputs such as indices
//   joint(f)                 one function for all, returning std::array<Tensor, N> or std::vector<Tensor>
//   view_adjoint             the generic rule of views
//   not_differentiable(why)  the op has no gradient; backward() names the op and the reason
//   in_f32(rule)             the rule reads values of 16 bits as f32, and its results are rounded once
//
// A cheap op whose rule saves its input anyway (gelu) can be marked with recomputed_inputs<Op>. Other ops then
// recompute its output instead of saving it (recomputation.h). An op whose rule saves nothing (cast) can be marked too:
// its 16-bit copy is recomputed if its input is a leaf, which exists anyway. An expensive op (linear) is marked with
// is_expensive_to_recompute<Op> too: it is recomputed only for an IfRecording whose value is read.
//
// An op without a rule does not compile: rule_table.cc uses gradient<Op> of every op of op_list.h.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/dispatch/apply.h"

namespace weft::autograd {

class OpNode;
class RuleArguments;

template <int I> struct GradOf : Tensor {};
using Grad = GradOf<0>;
template <int I> struct Input : Tensor {};
template <int I> struct OutputOf : Tensor {};
using Output = OutputOf<0>;
template <int I> struct ViewOf {
  const View& view;
  const Shape& shape() const { return view.shape(); }
};
/// The shape and dtype of input I, without its values.
template <int I> struct InputType {
  const Shape& shape;
  DType dtype;
};
/// Memory, with any strides, for the gradient of input I. A rule that writes to it returns this tensor; a rule may
/// ignore it. Undefined if there is none.
template <int I> struct Into : Tensor {};
/// The value of input I for a rule in which only the next derivative, or that of a batch of gradients, reads it: it
/// need not be saved if an op can recompute it, even an expensive one.
template <int I> struct IfRecording : Tensor {};
struct Needs {
  uint64_t mask;
  bool operator[](int input) const { return (mask >> (input < 63 ? input : 63)) & 1u; }
};
struct Views {
  std::span<const View> list;
  const View& operator[](size_t input) const { return list[input]; }
  size_t size() const { return list.size(); }
};

/// What a rule reads: bit i of `inputs` and `outputs` for number i; views are saved all or none. Bit i of `into`: it
/// can write the gradient of input i into given memory; of `if_recording`: it is one of `inputs` as IfRecording only.
struct Reads {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  bool views = false;
  uint32_t into = 0;
  uint32_t if_recording = 0;
  constexpr Reads operator|(Reads o) const {
    return {inputs | o.inputs, outputs | o.outputs, views || o.views, into | o.into, if_recording | o.if_recording};
  }
};

/// A type-erased rule.
struct Rule {
  bool differentiable;
  const char* why_not;  // the reason why there is no gradient, or null
  Reads (*reads)(uint64_t needs);
  bool places;  // it can write gradients into given memory (Into)
  std::vector<Tensor> (*run)(const RuleArguments& arguments);
  int recomputed_inputs;                                      // 0: the output is never recomputed
  bool is_expensive;                                          // to recompute
  Tensor (*recompute)(const void* op, const Tensor* inputs);  // computes output 0; null if it is never recomputed
};

/// The source of the arguments of a rule.
class RuleArguments {
 public:
  /// `into`: memory for the gradients of the inputs, one Tensor for each, or empty.
  RuleArguments(const OpNode& node, std::vector<Tensor>& gradients, uint64_t needs, std::span<const Tensor> into)
      : node_(node), gradients_(gradients), needs_(needs), into_(into) {}
  const OpNode& node() const { return node_; }
  const void* op() const;
  const Tensor& grad(int output) const { return gradients_[static_cast<size_t>(output)]; }
  /// The same for a parameter of a rule. The last function to run gets the gradient itself, which it may then hold
  /// alone: an op that takes it as an rvalue overwrites it.
  Tensor pass_grad(int output) const {
    Tensor& g = gradients_[static_cast<size_t>(output)];
    return is_last_ ? std::move(g) : g;
  }
  Tensor input(int index) const;
  Tensor input_if_recording(int index) const;
  Tensor output(int index) const;
  std::span<const View> views() const;
  InputType<0> input_type(int index) const;
  uint64_t needs() const { return needs_; }
  /// Bit i: input i was not saved, and each function that reads it computes it again. None while recording.
  uint32_t recomputed() const;
  Tensor into(int index) const { return into_.empty() ? Tensor() : into_[static_cast<size_t>(index)]; }
  /// These arguments for a rule that computes in f32.
  RuleArguments widened() const {
    RuleArguments out = *this;
    out.widens_ = true;
    return out;
  }
  /// These arguments for the last function that reads them.
  RuleArguments last() const {
    RuleArguments out = *this;
    out.is_last_ = true;
    return out;
  }
  /// These arguments, which know whether the gradients are a batch of vmap, as long as none has been moved from.
  RuleArguments knowing_batch() const;
  /// A value as the rule reads it.
  Tensor as_read(Tensor value) const { return widens_ ? widened(value) : std::move(value); }

 private:
  static Tensor widened(const Tensor& value);

  const OpNode& node_;
  std::vector<Tensor>& gradients_;
  uint64_t needs_;
  std::span<const Tensor> into_;
  bool widens_ = false;
  bool is_last_ = false;
  bool is_batch_ = false;
};

namespace rule_detail {

template <class T> struct Parameter {  // const op::X&
  using Descriptor = T;
  static constexpr Reads reads{};
  static const T& make(const RuleArguments& a) { return *static_cast<const T*>(a.op()); }
};
template <int I> struct Parameter<GradOf<I>> {
  static constexpr Reads reads{};
  static GradOf<I> make(const RuleArguments& a) { return {a.as_read(a.pass_grad(I))}; }
};
template <int I> struct Parameter<Input<I>> {
  static constexpr Reads reads{1u << I, 0, false};
  static Input<I> make(const RuleArguments& a) { return {a.as_read(a.input(I))}; }
};
template <int I> struct Parameter<IfRecording<I>> {
  static constexpr Reads reads{1u << I, 0, false, 0, 1u << I};
  static IfRecording<I> make(const RuleArguments& a) { return {a.as_read(a.input_if_recording(I))}; }
};
template <int I> struct Parameter<OutputOf<I>> {
  static constexpr Reads reads{0, 1u << I, false};
  static OutputOf<I> make(const RuleArguments& a) { return {a.as_read(a.output(I))}; }
};
template <int I> struct Parameter<ViewOf<I>> {
  static constexpr Reads reads{0, 0, true};
  static ViewOf<I> make(const RuleArguments& a) { return {a.views()[I]}; }
};
template <int I> struct Parameter<InputType<I>> {
  static constexpr Reads reads{};
  static InputType<I> make(const RuleArguments& a) {
    const InputType<0> type = a.input_type(I);
    return {type.shape, type.dtype};
  }
};
template <int I> struct Parameter<Into<I>> {
  static constexpr Reads reads{0, 0, false, 1u << I};
  static Into<I> make(const RuleArguments& a) { return {a.into(I)}; }
};
template <> struct Parameter<Views> {
  static constexpr Reads reads{0, 0, true};
  static Views make(const RuleArguments& a) { return {a.views()}; }
};
template <> struct Parameter<Needs> {
  static constexpr Reads reads{};
  static Needs make(const RuleArguments& a) { return {a.needs()}; }
};

/// Whether a rule of Op may have a parameter of type T: another op's descriptor would be read as Op's.
template <class Op, class T> constexpr bool fits_parameter() {
  if constexpr (requires { typename Parameter<T>::Descriptor; })
    return std::is_base_of_v<T, Op>;
  else
    return true;
}

template <class F> struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class C, class... A> struct Signature<R (C::*)(A...) const> {
  static constexpr Reads reads = (Reads{} | ... | Parameter<std::remove_cvref_t<A>>::reads);
  template <class Op> static constexpr bool fits = (fits_parameter<Op, std::remove_cvref_t<A>>() && ...);
  template <class F> static auto call(const F& f, const RuleArguments& a) {
    if constexpr (reads.if_recording != 0)  // compilers differ in which argument is made first
      return with(f, a.knowing_batch());
    else
      return with(f, a);
  }
  template <class F> static auto with(const F& f, const RuleArguments& a) {
    return f(Parameter<std::remove_cvref_t<A>>::make(a)...);
  }
};

}  // namespace rule_detail

/// Marks an input that has no gradient (indices, labels).
struct NoGradientOfInput {};
inline constexpr NoGradientOfInput no_gradient{};

/// The gradient of one input, without the type of its function.
struct InputRule {
  uint32_t reads;  // bit i: it reads the value of input i
  Tensor (*run)(const RuleArguments& arguments);
};
/// Runs the rules of the inputs that need a gradient. The result has a Tensor for each input, undefined for the others.
std::vector<Tensor> run_per_input(std::span<const InputRule> rules, const RuleArguments& arguments);

/// One function per input. They are lambdas without captures, of which only the types are kept.
template <class... F> struct PerInput {
  static constexpr bool differentiable = true;

  template <class G> static constexpr Reads reads_of() {
    if constexpr (std::is_same_v<G, NoGradientOfInput>)
      return {};
    else
      return rule_detail::Signature<G>::reads;
  }
  template <class Op, class G> static constexpr bool fits_one() {
    if constexpr (std::is_same_v<G, NoGradientOfInput>)
      return true;
    else
      return rule_detail::Signature<G>::template fits<Op>;
  }
  template <class Op> static constexpr bool fits() {
    return (fits_one<Op, F>() && ...) && dispatch::inputs_of<Op> == static_cast<int>(sizeof...(F));
  }
  static constexpr Reads reads(uint64_t needs) {
    Reads out;
    uint64_t bit = 1;
    ((out = (needs & bit) ? out | reads_of<F>() : out, bit <<= 1), ...);
    return out;
  }
  template <class G> static Tensor one(const RuleArguments& a) {
    if constexpr (std::is_same_v<G, NoGradientOfInput>)
      return {};
    else
      return rule_detail::Signature<G>::call(G{}, a);
  }
  static std::vector<Tensor> run(const RuleArguments& a) {
    static constexpr InputRule kRules[] = {{reads_of<F>().inputs, &one<F>}...};
    return run_per_input(kRules, a);
  }
};
template <class... F> constexpr PerInput<F...> per_input(F...) { return {}; }

template <class F> struct Joint {
  F function;
  static constexpr bool differentiable = true;
  template <class Op> static constexpr bool fits() { return rule_detail::Signature<F>::template fits<Op>; }
  static constexpr Reads reads(uint64_t) { return rule_detail::Signature<F>::reads; }
  std::vector<Tensor> run(const RuleArguments& a) const {
    auto result = rule_detail::Signature<F>::call(function, a.last());
    if constexpr (std::is_same_v<decltype(result), std::vector<Tensor>>)
      return result;
    else
      return {result.begin(), result.end()};
  }
};
template <class F> constexpr Joint<F> joint(F function) { return {function}; }

/// Casts the defined ones to `dtype`.
std::vector<Tensor> cast_all(std::vector<Tensor> tensors, DType dtype);

/// Rule `R` for formulas whose intermediate results 16 bits cannot hold. All values that it reads have one dtype.
template <class R> struct InF32 {
  R rule;
  static constexpr bool differentiable = true;
  template <class Op> static constexpr bool fits() { return R::template fits<Op>(); }
  static constexpr Reads reads(uint64_t needs) { return R::reads(needs); }
  std::vector<Tensor> run(const RuleArguments& a) const {
    const DType dtype = a.grad(0).dtype();
    return is_half_precision(dtype) ? cast_all(rule.run(a.widened()), dtype) : rule.run(a);
  }
};
template <class R> constexpr InF32<R> in_f32(R rule) { return {rule}; }

/// The gradient of a view op by the generic adjoint: a tensor of zeros, with `g` added into the same view of it.
Tensor adjoint_of_view(const AnyOp& op, const View& input, const Tensor& g);

struct ViewRule {
  static constexpr bool differentiable = true;
  static constexpr Reads reads(uint64_t) { return {0, 0, true}; }
  std::vector<Tensor> run(const RuleArguments& a) const;
};
inline constexpr ViewRule view_adjoint{};

struct NotDifferentiable {
  static constexpr bool differentiable = false;
  const char* why;
  static constexpr Reads reads(uint64_t) { return {}; }
  std::vector<Tensor> run(const RuleArguments&) const { return {}; }
};
/// The rule of an op without a gradient. docs/ops.md prints "no: " and `why`.
consteval NotDifferentiable not_differentiable(const char* why) { return {why}; }

/// The number of inputs of an op whose (first) output is recomputed in backward instead of being saved; 0 for other
/// ops. Such an op is a pure function of its inputs and costs about one pass over memory.
template <class Op> inline constexpr int recomputed_inputs = 0;
/// Whether it costs more than that.
template <class Op> inline constexpr bool is_expensive_to_recompute = false;
inline constexpr int kMostRecomputedInputs = 4;  // size of the array in Recomputation::run

/// The rule of an op. There is no default: an op without a specialization does not compile.
struct MissingRule {};
template <class Op> inline constexpr MissingRule gradient = {};

/// A row of the rule table: `WEFT_GRADIENT(Exp) = per_input(...)`.
#define WEFT_GRADIENT(Op) template <> inline constexpr auto gradient<op::Op>

/// The rule of the op with this code.
const Rule& rule_of(OpCode code);

}  // namespace weft::autograd
