// Batching rules: how an op runs on a batch of its inputs. One row per op in tensor/batching/rules/, in the
// file with the stem of the descriptor.
//
//   WEFT_BATCHING(Softmax) = along_axis;
//
// A rule gets the batch tensors of the op's inputs, at least one of which has a batch axis, and returns those of its
// results, with the batch axis first. It calls ordinary ops, which record the history of the batch tensors. An op
// without a rule runs sample by sample (one_by_one), which is correct for every op and as slow as a loop. Ops whose
// policy broadcasts, and the ops of unary.inc, special.inc, activation.inc, activation_backward.inc and compare.inc,
// have the rule same_op.
//
//   same_op       runs the same op: it works element-wise, or accepts any leading axes
//   along_axis    runs the op with `op.axis` (which counts from 0) shifted by the batch axis
//   over_axes     the same for `op.axes`
//   folded<mask>  merges the batch axis into axis 0 of the inputs in `mask`, and splits it off all results; runs sample
//                 by sample if another input differs between samples
//   [](const op::X& op, const Call& call) -> std::vector<Tensor>
#pragma once

#include <vector>

#include "tensor/batching/level.h"

namespace weft::batching {

/// An op and the batch tensors of its inputs.
struct Call {
  const OpInfo& info;
  const void* op;
  const Level& level;
  const std::vector<Batch>& inputs;

  int64_t size() const { return level.size; }
  bool is_batched(size_t input) const { return inputs[input].batched; }
  /// Input `i` with a batch axis (of stride 0 if the samples are equal); undefined if the input is absent.
  Tensor whole(size_t i) const;
  /// The same for all inputs.
  std::vector<Tensor> whole() const;
  /// apply() runs this op, run() another op, on batch tensors.
  std::vector<Tensor> apply(const std::vector<Batch>& list) const;
  std::vector<Tensor> apply(const std::vector<Tensor>& list) const { return apply_with(op, list); }
  /// Runs this op with the attributes of `changed`, a descriptor of the same type.
  std::vector<Tensor> apply_with(const void* changed, const std::vector<Tensor>& list) const {
    return apply_erased(info, changed, list, level.below);
  }
  template <class Op> std::vector<Tensor> run(const Op& other, const std::vector<Tensor>& list) const {
    return apply_erased(op_info<Op>, &other, list, level.below);
  }
};

using Rule = std::vector<Tensor> (*)(const Call& call);

std::vector<Tensor> one_by_one(const Call& call);
/// Reshape x (batch, n, ...) to (batch * n, ...), and back.
Tensor fold(const Tensor& x);
Tensor unfold_batch(const Tensor& x, int64_t size);
/// `x` (batch) as (batch, 1).
Tensor as_column(const Tensor& x);
std::vector<Tensor> fold_inputs(const Call& call, uint32_t mask);
bool may_fold(const Call& call, uint32_t mask);
std::vector<Tensor> unfold_all(std::vector<Tensor> results, int64_t size);
/// A result that was not requested: shape [0] for each sample, with the dtype and device of `like`.
Tensor placeholder(const Call& call, const Tensor& like);

struct OneByOne {};
struct SameOp {};
struct AlongAxis {};
struct OverAxes {};
template <uint32_t mask> struct Folded {};
inline constexpr SameOp same_op;
inline constexpr AlongAxis along_axis;
inline constexpr OverAxes over_axes;
template <uint32_t mask> inline constexpr Folded<mask> folded;

/// The rule of an op. The default, for ops without a row, is sample by sample.
template <class Op> inline constexpr auto batching = OneByOne{};
template <class Op>
  requires(dispatch::policy_of<Op>.broadcasts)
inline constexpr auto batching<Op> = same_op;

/// A row of the rule table.
#define WEFT_BATCHING(Op) template <> inline constexpr auto batching<op::Op>

namespace rule_detail {

inline std::vector<Tensor> run_same(const Call& call) { return call.apply(call.whole()); }
template <uint32_t mask> std::vector<Tensor> run_folded(const Call& call) {
  if (!may_fold(call, mask)) return one_by_one(call);
  return unfold_all(call.apply(fold_inputs(call, mask)), call.size());
}
/// The rules that do not depend on the type of the op, as those of most ops: all ops share one function.
constexpr Rule shared(OneByOne) { return &one_by_one; }
constexpr Rule shared(SameOp) { return &run_same; }
template <uint32_t mask> constexpr Rule shared(Folded<mask>) { return &run_folded<mask>; }

/// The others, of which each op has a function of its own.
template <class Op> std::vector<Tensor> run(AlongAxis, Op op, const Call& call) {
  ++op.axis;
  return call.apply_with(&op, call.whole());
}
template <class Op> std::vector<Tensor> run(OverAxes, Op op, const Call& call) {
  for (int64_t& axis : op.axes) ++axis;
  if (!op.axes.empty()) return call.apply_with(&op, call.whole());
  // 0-d samples get an axis, because an empty list of axes would mean all axes, the batch included.
  op.axes = {1};
  op.keepdim = false;
  return call.apply_with(&op, {as_column(call.whole(0))});
}
template <class Op, class F> std::vector<Tensor> run(const F& rule, const Op& op, const Call& call) {
  return rule(op, call);
}

}  // namespace rule_detail

/// The rule of the op with this code.
Rule rule_of(OpCode code);

}  // namespace weft::batching
