#include "autograd/op_node.h"

#include "tensor/dispatch/modes.h"

namespace weft::autograd {

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
  // A result written into existing memory may have another layout than the op would give it.
  // Hooks on what is saved see it all, the same in each run (checkpoint.h). A sample of vmap that is computed again
  // would lose the history of its batch.
  const Storage& result = internal::storage(call.outputs[0]);
  const bool replaced = current_saver() != nullptr || result.version() != 0 || result.device().kind == DeviceKind::vmap;
  const bool recomputable = rule.recomputed_inputs != 0 && !replaced;
  // A parameter lives anyway, the copy that Autocast makes of it need not, whatever the rule reads.
  const auto copies_leaf = [&] {
    return internal::modes().autocast != f32 && metas_[0].dtype == internal::modes().autocast &&
           refers_to_leaf(edges_[0]);
  };
  // A dear op is made able to run again only if that costs no memory to speak of.
  const auto saves_enough = [&] {
    if (!rule.is_dear) return reads.inputs != 0 || copies_leaf();
    for (size_t i = 0; i < static_cast<size_t>(rule.recomputed_inputs); ++i) {
      const Tensor& x = *call.inputs[i];
      if (!x.defined()) continue;
      if (x.dtype() != metas_[0].dtype) return false;  // rounded inside, as Autocast's scope decides
      const bool exists = (reads.inputs >> i & 1u) != 0 || refers_to_leaf(edges_[i]);
      if (!exists && x.numel() > call.outputs[0].numel() / 64) return false;
    }
    return reads.inputs != 0;
  };
  const bool runs_again = recomputable && saves_enough();
  if (runs_again) reads.inputs |= (1u << rule.recomputed_inputs) - 1;
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
  if (op_.is_view() && edges_[0].node) may_recompute_ = edges_[0].node->may_recompute();
  if (runs_again && can_recompute()) may_recompute_ = rule.is_dear ? Again::dear : Again::cheap;
  if (op_.is_view() && edges_[0].node) view_of_leaf_ = edges_[0].node->is_leaf() || edges_[0].node->is_view_of_leaf();
}

void OpNode::save_input(size_t index, const Tensor& x, bool if_recording) {
  SavedInput& saved = saved_inputs_[index];
  // What code outside may have written into x would not be computed again.
  if (current_saver() == nullptr && !internal::storage(x).may_change_unseen())
    saved.recomputation = Recomputation::of(edges_[index], if_recording ? Again::dear : Again::cheap);
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
  // A parameter that is kept for its copy alone lives anyway, and the copy may serve several backward passes.
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
