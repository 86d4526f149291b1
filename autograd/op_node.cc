#include "autograd/op_node.h"

#include "tensor/dispatch/modes.h"

namespace weft::autograd {
namespace {

/// Whether ops that read `result` must save it, because running its op again would not give the same tensor.
bool must_be_saved(const Tensor& result) {
  if (current_saver() != nullptr) return true;  // a saver gets all saved tensors, the same in each run (checkpoint.h)
  const Storage& memory = internal::storage(result);
  if (memory.version() != 0) return true;  // it was written into existing memory, whose layout may not be the op's own
  return memory.device().kind == DeviceKind::vmap;  // a recomputed sample would not have the history of its batch
}

}  // namespace

void OpNode::create(const OpCall& call) {
  const Rule& rule = rule_of(*call.info.code);
  if (!rule.differentiable) {
    for (Tensor& out : call.outputs) internal::body(out).cut = &call.info;
    return;
  }
  OpNode* const node = new OpNode(call, rule);
  bool owned = false;  // by an output; the first takes the reference that the node begins with
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    internal::TensorBody& body = internal::body(call.outputs[i]);
    if (!is_floating(body.dtype)) {
      body.cut = &call.info;
      continue;
    }
    body.history =
        std::exchange(owned, true) ? IntrusivePtr<Provenance>::share(node) : IntrusivePtr<Provenance>::adopt(node);
    body.output_index = static_cast<uint16_t>(i);
  }
  if (!owned) NodePtr::adopt(node);
}

bool OpNode::keeps_input(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index) {
  const Rule& rule = rule_of(*info.code);
  if (!rule.differentiable) return false;
  uint64_t needs = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->defined() && inputs[i]->requires_grad()) needs |= uint64_t{1} << std::min<size_t>(i, 63);
  return index < static_cast<size_t>(rule.recomputed_inputs) ||
         (rule.reads(needs).inputs >> std::min<size_t>(index, 31) & 1u) != 0;
}

OpNode::OpNode(const OpCall& call, const Rule& rule)
    : Node(false), op_(call.info, call.op), rule_(rule), edges_(call.inputs.size()), metas_(call.outputs.size()) {
  const size_t inputs = edges_.size(), outputs = metas_.size();
  for (size_t i = 0; i < inputs; ++i) edges_[i] = edge_of(*call.inputs[i]);
  for (size_t i = 0; i < outputs; ++i) {
    metas_[i].shape = call.outputs[i].shape();
    metas_[i].dtype = call.outputs[i].dtype();
  }
  Reads reads = rule.reads(needs());
  const bool recomputable = is_worth_recomputing(call, reads);
  if (recomputable) reads.inputs |= (1u << rule.recomputed_inputs) - 1;
  save(call, reads);
  if (op_.is_view() && edges_[0].node) {
    recomputable_ = edges_[0].node->recomputable();
    view_of_leaf_ = edges_[0].node->is_leaf() || edges_[0].node->is_view_of_leaf();
  }
  if (recomputable && can_recompute())
    recomputable_ = rule.is_expensive ? Recomputable::expensive : Recomputable::cheap;
}

bool OpNode::is_worth_recomputing(const OpCall& call, const Reads& reads) const {
  if (rule_.recomputed_inputs == 0 || must_be_saved(call.outputs[0])) return false;
  if (!rule_.is_expensive) {
    // Saving the input of a cast for the cast alone would take more memory than saving the result, except for a
    // parameter, which exists anyway.
    const DType scope = internal::modes().autocast;
    return reads.inputs != 0 || (scope != f32 && metas_[0].dtype == scope && refers_to_leaf(edges_[0]));
  }
  // The inputs of an expensive op are saved only if this takes little memory.
  if (reads.inputs == 0) return false;
  for (size_t i = 0; i < static_cast<size_t>(rule_.recomputed_inputs); ++i) {
    const Tensor& x = *call.inputs[i];
    if (!x.defined()) continue;
    if (x.dtype() != metas_[0].dtype) return false;  // the kernel rounds it, which depends on the scope of Autocast
    const bool exists = (reads.inputs >> i & 1u) != 0 || refers_to_leaf(edges_[i]);
    if (!exists && x.numel() > call.outputs[0].numel() / 64) return false;
  }
  return true;
}

void OpNode::save(const OpCall& call, const Reads& reads) {
  const size_t inputs = edges_.size(), outputs = metas_.size();
  if (reads.inputs != 0) {
    saved_inputs_.reset(inputs);
    for (size_t i = 0; i < inputs; ++i)
      if ((reads.inputs >> i) & 1u && call.inputs[i]->defined())
        save_input(i, *call.inputs[i], (reads.if_recording >> i & 1u) != 0);
  }
  if (reads.outputs != 0) {
    saved_outputs_.reset(outputs);
    for (size_t i = 0; i < outputs; ++i)
      if ((reads.outputs >> i) & 1u) saved_outputs_[i].keep(call.outputs[i]);
  }
  if (reads.views) {
    views_.reset(inputs);
    for (size_t i = 0; i < inputs; ++i)
      if (call.inputs[i]->defined()) views_[i] = call.inputs[i]->layout();
  }
}

void OpNode::save_input(size_t index, const Tensor& x, bool if_recording) {
  SavedInput& saved = saved_inputs_[index];
  // If other code may have written into x, running its op again would not give the same values.
  if (current_saver() == nullptr && !internal::storage(x).may_change_unseen())
    saved.recomputation =
        Recomputation::of(edges_[index], if_recording ? Recomputable::expensive : Recomputable::cheap);
  if (saved.recomputation.empty()) {
    saved.keep(x);
  } else {
    saved.view = x.layout();
    saved.dtype = x.dtype();
  }
}

Tensor OpNode::saved_input(size_t index, const Edge& edge) const {
  if (saved_inputs_.empty() || saved_inputs_[index].empty()) return {};  // an optional input that was absent
  const SavedInput& saved = saved_inputs_[index];
  if (saved.recomputation.empty()) return unpack(saved, edge, op_.name(), "input", static_cast<int>(index));
  const Tensor again = saved.recomputation.run();
  Saved memory;
  memory.storage = internal::storage_ptr(again);
  memory.view = saved.view;
  memory.dtype = saved.dtype;
  memory.version = memory.storage->version();
  return unpack(memory, edge, op_.name(), "input", static_cast<int>(index));
}

bool OpNode::can_recompute() const {
  if (saved_inputs_.empty()) return false;  // freed, or nothing was read
  // One step only: a recomputation that needs another one would make backward of a chain quadratic.
  for (size_t i = 0; i < saved_inputs_.size(); ++i)
    if (!saved_inputs_[i].recomputation.empty()) return false;
  return true;
}

uint64_t OpNode::needs() const {
  uint64_t mask = 0;
  for (size_t i = 0; i < edges_.size(); ++i)
    if (edges_[i].node) mask |= uint64_t{1} << std::min<size_t>(i, 63);
  return mask;
}

Gradients OpNode::run_into(Gradients gradients, std::span<const Tensor> into, uint64_t wanted) {
  return rule_.run(RuleArguments(*this, gradients, needs() & wanted, into));
}

bool OpNode::saves() const {
  for (size_t i = 0; i < saved_inputs_.size(); ++i)
    if (!saved_inputs_[i].empty()) return true;
  for (size_t i = 0; i < saved_outputs_.size(); ++i)
    if (!saved_outputs_[i].empty()) return true;
  return false;
}

void OpNode::free_saved() {
  // A parameter that is saved for its 16-bit copy alone exists anyway, and several backward passes may need the copy.
  if (!saves() || (saved_outputs_.empty() && rule_.reads(needs()).inputs == 0)) return;
  freed_ = true;
  if (recomputations_ == 0) saved_inputs_.reset(0);
  saved_outputs_.reset(0);
}

void OpNode::visit_saved(const SavedVisitor& visit) const {
  for (size_t i = 0; i < saved_inputs_.size(); ++i)
    if (!saved_inputs_[i].Saved::empty()) visit(saved_inputs_[i], refers_to_leaf(edges_[i]));
  for (size_t i = 0; i < saved_outputs_.size(); ++i)
    if (!saved_outputs_[i].empty()) visit(saved_outputs_[i], false);
}

}  // namespace weft::autograd
