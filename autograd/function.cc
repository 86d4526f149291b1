#include "autograd/function.h"

#include <cxxabi.h>

#include <cstdlib>

#include "tensor/ops/view.h"

namespace weft::autograd {

const Tensor& Context::saved(size_t i) const {
  if (i >= unpacked_.size()) throw IndexError(text("saved(", i, "): ", unpacked_.size(), " tensors were saved"));
  return unpacked_[i];
}

namespace detail {
std::string readable_name(const std::type_info& type) {
  int status = 0;
  char* readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? readable : type.name();
  std::free(readable);
  return name;
}
}  // namespace detail

void FunctionNode::record(std::string name, Context context, Backward backward, const std::vector<Tensor>& inputs,
                          std::vector<Tensor>& outputs) {
  bool needed = false;
  for (const Tensor& x : inputs) needed = needed || (x.defined() && x.requires_grad());
  if (!needed || !is_recording()) return;

  auto* node = new FunctionNode();
  const IntrusivePtr<Provenance> history = IntrusivePtr<Provenance>::adopt(node);
  node->name_ = std::move(name);
  node->backward_ = backward;
  for (const Tensor& x : inputs) {
    node->edges_.push_back(edge_of(x));
    context.needs_.push_back(bool(node->edges_.back().node));
  }
  for (Tensor& out : outputs) {
    // A result that is an input (or shares its body) gets a body of its own: the input's history must stay as it is.
    for (const Tensor& x : inputs)
      if (x.defined() && out.is_same(x)) out = x.detach();
    node->metas_.push_back({out.shape(), out.dtype()});
  }
  for (const Tensor& x : context.pending_) {
    Kept kept;
    if (x.defined()) {
      kept.saved = Saved::of(x);
      kept.edge = edge_of(x);
      for (size_t i = 0; i < outputs.size(); ++i)
        if (x.is_same(outputs[i])) kept.own_output = static_cast<int>(i);
    }
    node->kept_.push_back(std::move(kept));
  }
  context.pending_.clear();
  node->context_ = std::move(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_floating(outputs[i].dtype())) continue;
    outputs[i].body().history = history;
    outputs[i].body().output_index = static_cast<uint16_t>(i);
  }
}

Gradients FunctionNode::run(Gradients gradients) {
  context_.unpacked_.clear();
  for (size_t i = 0; i < kept_.size(); ++i) {
    const Kept& kept = kept_[i];
    if (kept.saved.empty()) {
      context_.unpacked_.emplace_back();
      continue;
    }
    const Edge edge = kept.own_output >= 0 ? Edge{NodePtr::share(this), kept.own_output} : kept.edge;
    context_.unpacked_.push_back(unpack(kept.saved, edge, name_, "saved tensor", static_cast<int>(i)));
  }
  Gradients results = backward_(context_, gradients);
  context_.unpacked_.clear();
  return results;
}

void FunctionNode::free_saved() {
  freed_ = true;
  kept_.clear();
}

int64_t FunctionNode::saved_bytes() const {
  int64_t bytes = 0;
  for (const Kept& kept : kept_)
    if (!kept.saved.empty()) bytes += static_cast<int64_t>(kept.saved.storage->bytes());
  return bytes;
}

void FunctionNode::take_edges(std::vector<NodePtr>& out) noexcept {
  for (Edge& edge : edges_)
    if (edge.node) out.push_back(std::move(edge.node));
  for (Kept& kept : kept_)
    if (kept.edge.node) out.push_back(std::move(kept.edge.node));
}

}  // namespace weft::autograd
