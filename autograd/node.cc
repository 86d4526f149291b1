#include "autograd/node.h"

#include <atomic>
#include <mutex>

#include "autograd/node_frame.h"
#include "autograd/op_node.h"
#include "autograd/run.h"
#include "tensor/functions/binary.h"

namespace weft::autograd {
namespace {
std::atomic<uint64_t> next_node{1};
constinit std::mutex hooks_mutex;  // guards the lists of hooks: threads may share leaves

[[noreturn]] void throw_not_a_leaf(const std::string& name) {
  throw GradientError(text("this tensor is the result of `", name,
                           "`, not a leaf: only leaves (see parameter()) hold a "
                           "gradient; use retain_grad() before backward, or grad(outputs, inputs)"));
}

/// `fresh`, which has no other owner, with the history of `edge`.
Tensor with_history(Tensor fresh, const Edge& edge) {
  if (edge.node) {
    internal::body(fresh).history = IntrusivePtr<Provenance>::share(edge.node.get());
    internal::body(fresh).output_index = static_cast<uint16_t>(edge.index);
  }
  return fresh;
}
}  // namespace

Node::Node(bool leaf) : sequence_(next_node.fetch_add(1, std::memory_order_relaxed)) { leaf_ = leaf; }

uint64_t Node::next_sequence() { return next_node.load(std::memory_order_relaxed); }

void Saved::keep(const Tensor& x) {
  const internal::TensorBody& body = internal::body(x);
  view = body.view;
  dtype = body.dtype;
  if (Saver* const saver = current_saver()) {
    packed = saver->save(x);
    if (packed) return;
  }
  storage = body.storage;
  // The body's version, not the storage's: the input of a write in place is saved after the write.
  version = std::atomic_ref<uint64_t>(internal::body(x).version).load(std::memory_order_relaxed);
}

int64_t Saved::bytes() const {
  if (packed) return packed->bytes();
  return storage ? static_cast<int64_t>(storage->bytes()) : 0;
}

int64_t Node::saved_bytes() const {
  int64_t bytes = 0;
  visit_saved([&](const Saved& saved, bool) { bytes += saved.bytes(); });
  return bytes;
}

Edge edge_of(const Tensor& x) {
  if (!x.defined() || !x.requires_grad()) return {};
  return {NodePtr::share(node_of(x)), internal::body(x).output_index};
}

std::map<uint64_t, const Node*> nodes_behind(const std::vector<const Node*>& roots, uint64_t oldest) {
  std::map<uint64_t, const Node*> nodes;
  std::vector<const Node*> waiting;
  const auto visit = [&](const Node* node) {
    if (node->sequence() >= oldest && nodes.try_emplace(node->sequence(), node).second) waiting.push_back(node);
  };
  for (const Node* root : roots) visit(root);
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    for (const Edge& edge : node->edges())
      if (edge.node) visit(edge.node.get());
  }
  return nodes;
}

Tensor unpack(const Saved& saved, const Edge& edge, std::string_view op, std::string_view what, int index) {
  if (saved.packed) return with_history(saved.packed->unpack(saved.view.shape(), saved.dtype), edge);
  const bool written_since = saved.storage->version() != saved.version;
  if (written_since)
    throw GradientError(text("`", op, "` needs its ", what, " ", index, " of shape ", saved.view.shape(), " (",
                             saved.dtype, ") for the gradient, but `", saved.storage->writer(),
                             "` has written to it since (version ", saved.storage->version(), ", saved at ",
                             saved.version, "); write to a clone()"));
  return with_history(internal::make_tensor(saved.storage, saved.view, saved.dtype), edge);
}

Tensor Node::through_hooks(int index, Tensor gradient) const {
  if (!has_hooks() || !gradient.defined()) return gradient;
  const NodeFrame frame("a hook of", *this);
  std::vector<Hook> hooks;  // a copy: a hook may take hooks off
  {
    const std::lock_guard lock(hooks_mutex);
    for (const auto& [number, hook] : hooks_.load(std::memory_order_relaxed)->list)
      if (hook.index == index) hooks.push_back(hook);
  }
  for (const Hook& hook : hooks) {
    // A hook may write to what it is given: it gets memory that no other branch, no seed and no earlier hook holds.
    const bool writable =
        holds_alone(gradient) && !gradient.layout().overlaps_itself() && !gradient.layout().has_mask();
    if (!writable && index != kAccumulated) gradient = gradient.clone();
    const Tensor replaced = (*hook.function)(gradient);
    if (!replaced.defined()) continue;
    if (replaced.shape() != gradient.shape() || replaced.dtype() != gradient.dtype())
      throw GradientError(
          text("it returned ", weft::describe(replaced), " for a gradient of ", weft::describe(gradient)));
    gradient = replaced;
  }
  add_retained(index, gradient);
  return gradient;
}

Tensor* Node::retained(int index) const {
  if (!has_hooks()) return nullptr;
  std::map<int, Tensor>& all = hooks_.load(std::memory_order_relaxed)->retained;
  const auto found = all.find(index);
  return found == all.end() ? nullptr : &found->second;
}

void Node::add_retained(int index, const Tensor& gradient) const {
  Tensor sum;
  {
    const std::lock_guard lock(hooks_mutex);
    const Tensor* kept = retained(index);
    if (kept == nullptr) return;
    sum = *kept;
  }
  sum = sum.defined() ? sum + gradient : gradient.clone();  // the user may write to a seed, or to what grad() gave
  const std::lock_guard lock(hooks_mutex);
  if (Tensor* kept = retained(index)) std::swap(*kept, sum);
}

void Node::record(const OpCall& call) const { OpNode::create(call); }

bool Node::would_keep(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index) const {
  return OpNode::keeps_input(info, inputs, index);
}

void Node::backward(int index, const Tensor& seed, const BackwardOptions& options) {
  run_backward({{NodePtr::share(this), index}}, {seed}, options);
}

int Node::add_hook(int index, GradientHook hook) {
  static std::atomic<int> next_number{1};
  const int number = next_number.fetch_add(1, std::memory_order_relaxed);
  const Hook added{index, std::make_shared<const GradientHook>(std::move(hook))};
  const std::lock_guard lock(hooks_mutex);
  if (!has_hooks()) hooks_.store(new Hooks, std::memory_order_release);
  hooks_.load(std::memory_order_relaxed)->list.emplace(number, added);
  return number;
}

void Node::remove_hook(int number) {
  if (!has_hooks()) return;
  std::map<int, Hook>::node_type gone;  // released last, without the lock: it may own a handle, and this node by it
  const std::lock_guard lock(hooks_mutex);
  gone = hooks_.load(std::memory_order_relaxed)->list.extract(number);
}

void Node::retain_gradient(int index) {
  const std::lock_guard lock(hooks_mutex);
  if (!has_hooks()) hooks_.store(new Hooks, std::memory_order_release);
  hooks_.load(std::memory_order_relaxed)->retained.try_emplace(index);
}

Tensor Node::gradient(int index) const {
  const std::lock_guard lock(hooks_mutex);
  if (const Tensor* kept = retained(index)) return *kept;
  throw_not_a_leaf(name());
}

void Node::set_gradient(int index, const Tensor& gradient) {
  const Meta* what = meta(index);
  if (gradient.defined() && what != nullptr && (gradient.shape() != what->shape || gradient.dtype() != what->dtype))
    throw GradientError(text("the gradient of a result of `", name(), "` must be ", what->shape, " ", what->dtype,
                             ", not ", weft::describe(gradient)));
  Tensor replacement = gradient.defined() ? gradient.clone() : Tensor();
  const std::lock_guard lock(hooks_mutex);
  Tensor* kept = retained(index);
  if (kept == nullptr) throw_not_a_leaf(name());
  std::swap(*kept, replacement);
}
int Node::add_accumulated_hook(AccumulatedHook) { throw_not_a_leaf(name()); }
void Node::set_requires_grad(bool) { throw_not_a_leaf(name()); }
void Node::set_name(const std::string&) { throw_not_a_leaf(name()); }
void Node::replaced(const Tensor&) { throw_not_a_leaf(name()); }

void Node::dispose() noexcept {
  // Deleting a node would delete the nodes it owns, and so on: a list and a loop instead of the call stack.
  struct Waiting {
    Node* first;
    bool emptied;  // by a call below on the stack
  };
  static thread_local constinit Waiting waiting = {};
  if (waiting.emptied) {
    next_waiting_ = std::exchange(waiting.first, this);
    return;
  }
  waiting.emptied = true;
  Node* node = this;
  while (node != nullptr) {
    delete node;
    node = waiting.first;
    if (node != nullptr) waiting.first = node->next_waiting_;
  }
  waiting.emptied = false;
}

}  // namespace weft::autograd
