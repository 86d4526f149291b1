#include "autograd/recomputation.h"

#include <array>

#include "autograd/grad_mode.h"
#include "autograd/op_node.h"

namespace weft::autograd {
namespace {

/// The op that produced the tensor of `edge`, through any views of it; only if that is the op's first result.
OpNode* op_behind(const Edge& edge, Recomputable least) {
  const Edge* at = &edge;
  while (at->node && at->node->recomputable() >= least && at->index == 0) {
    auto& node = static_cast<OpNode&>(*at->node);  // only these are recomputable
    if (!node.op().is_view()) return &node;
    at = &node.edges()[0];
  }
  return nullptr;
}

}  // namespace

Recomputation Recomputation::of(const Edge& edge, Recomputable least) {
  OpNode* const maker = op_behind(edge, least);
  return maker != nullptr && maker->can_recompute() ? Recomputation(*maker) : Recomputation();
}

Recomputation::Recomputation(OpNode& maker) : maker_(IntrusivePtr<OpNode>::share(&maker)) { ++maker.recomputations_; }

Recomputation::~Recomputation() {
  if (maker_ && --maker_->recomputations_ == 0 && maker_->freed()) maker_->saved_inputs_.reset(0);
}

Tensor Recomputation::run() const {
  NoGrad guard;
  std::array<Tensor, kMostRecomputedInputs> inputs;
  const auto count = static_cast<size_t>(maker_->rule_.recomputed_inputs);
  for (size_t i = 0; i < count; ++i) inputs[i] = maker_->saved_input(i, {});
  return maker_->rule_.recompute(maker_->op_.get(), inputs.data());
}

Device Recomputation::device() const { return maker_->saved_inputs_[0].storage->device(); }

}  // namespace weft::autograd
