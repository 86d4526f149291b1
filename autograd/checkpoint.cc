#include "autograd/checkpoint.h"

#include <algorithm>
#include <memory>

#include "autograd/function_node.h"
#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/run_again.h"
#include "tensor/batching/level.h"
#include "tensor/core/random.h"

namespace weft::autograd {
namespace {

class Call;

/// `x`, saved without calling saved-tensor hooks.
Saved plainly_saved(const Tensor& x) {
  const SaverScope plain(nullptr);
  return Saved(x);
}

/// The leaf that x is, or is a view of; null if it is neither.
const Node* leaf_of(const Tensor& x) {
  const Edge edge = edge_of(x);
  if (!refers_to_leaf(edge)) return nullptr;
  const Node* node = edge.node.get();
  while (!node->is_leaf()) {
    const auto* const function = dynamic_cast<const FunctionNode*>(node);
    node = (function != nullptr ? function->base_edge() : node->edges()[0]).node.get();
  }
  return node;
}

/// Whether x is a leaf, or a view of one, in each run of the function that it is given in.
bool is_always_leaf(const Tensor& x) {
  const Saver* const saver = current_saver();
  return leaf_of(x) != nullptr && (saver == nullptr || !saver->was_result(x));
}

/// GradientError where the memory was written since.
Tensor unpacked(const Saved& saved, const char* what, size_t index) {
  return autograd::unpack(saved, {}, "checkpoint", what, static_cast<int>(index));
}

/// Replaces one tensor that the function's ops would save.
struct Slot final : Packed {
  Slot(std::shared_ptr<Call> c, size_t i, const Tensor& x)
      : call(std::move(c)), index(i), shape(x.shape()), dtype(x.dtype()) {}
  Tensor unpack(const Shape& shape, DType dtype) override;
  int64_t bytes() const override { return value.bytes(); }

  std::shared_ptr<Call> call;
  size_t index;
  Shape shape;
  DType dtype;
  Saved leaf;   // a parameter's memory, which lives anyway: kept, so that a write to it is noticed
  Saved value;  // once computed again; the function may write to it later in the same run, which is noticed too
};

/// A tensor that is kept while the function runs again.
struct Held final : Packed {
  Held(Saved x, size_t i) : value(std::move(x)), index(i) {}
  Tensor unpack(const Shape&, DType) override { return unpacked(value, "saved tensor", index); }
  int64_t bytes() const override { return value.bytes(); }
  Saved value;
  size_t index;
};

/// One call of checkpoint: all that it takes to run it again. Slots own it.
class Call final : public std::enable_shared_from_this<Call> {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  Call(Function f, const std::vector<Tensor>& inputs)
      : f_(std::move(f)), autocast_(internal::modes().autocast), active_(active_states()) {
    for (const Tensor& x : inputs) {
      if (x.defined()) dispatch::check_input_version(x);
      inputs_.push_back(!x.defined() ? Saved() : is_always_leaf(x) ? plainly_saved(x) : Saved(x));
      needs_.push_back(x.defined() && x.requires_grad());
      results_.push_back(needs_.back() && leaf_of(x) == nullptr);
    }
  }

  std::vector<Tensor> run_first(const std::vector<Tensor>& inputs) {
    First saver(*this);
    const SaverScope scope(&saver);
    const RandomScope noted(RandomScope::Kind::note, random_);
    const OnceScope once(OnceScope::Kind::note, once_);
    std::vector<Tensor> out = f_(inputs);
    finished_ = true;
    return out;
  }

  /// Fills the slots that live. Where it throws, it empties them: what a run that did something else or that ended
  /// early has left there must not serve the next backward.
  void run_again() {
    try {
      fill_slots();
    } catch (...) {
      for (const std::weak_ptr<Slot>& slot : slots_)
        if (const std::shared_ptr<Slot> living = slot.lock()) living->value = Saved();
      throw;
    }
  }

 private:
  void fill_slots() {
    const EnableGrad recording;
    const internal::ModeScope cast(&internal::Modes::autocast, autocast_);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(inputs_[i].empty() ? Tensor() : unpacked(inputs_[i], "input", i));
      check_vmap_runs(inputs.back());
      if (needs_[i]) inputs.back().requires_grad_(true);
    }
    Again saver(*this, inputs);
    const SaverScope scope(&saver);
    const RandomScope repeated(RandomScope::Kind::repeat, random_);
    const OnceScope once(OnceScope::Kind::repeat, once_);
    const EnteredStates entered(active_);
    f_(inputs);
    if (finished_ ? saver.next != slots_.size() : saver.next < slots_.size())
      throw_differs(text("it kept ", slots_.size(), " tensors the first time, and ", saver.next, " now"));
    if (finished_ && repeated.drawn() != random_.size())
      throw_differs(text("it drew random numbers ", random_.size(), " times before, and ", repeated.drawn(),
                         " now; was a module set to eval() between?"));
  }

  struct First final : Saver {
    explicit First(Call& c) : call(c) {}
    std::shared_ptr<Packed> save(const Tensor& x) override {
      auto slot = std::make_shared<Slot>(call.shared_from_this(), call.slots_.size(), x);
      const Node* const leaf = leaf_of(x);
      if (leaf != nullptr && leaf->sequence() < call.start_) slot->leaf = plainly_saved(x);
      call.slots_.push_back(slot);
      return slot;
    }
    Saver* of_transforms() override { return nullptr; }
    Call& call;
  };
  struct Again final : Saver {
    Again(Call& c, const std::vector<Tensor>& inputs) : call(c) {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (c.results_[i]) results.push_back(leaf_of(inputs[i]));
    }
    std::shared_ptr<Packed> save(const Tensor& x) override {
      const size_t index = next++;
      const Saved value = plainly_saved(x);
      if (index < call.slots_.size())
        if (const std::shared_ptr<Slot> slot = call.slots_[index].lock()) fill(*slot, value);
      return std::make_shared<Held>(value, index);
    }
    Saver* of_transforms() override { return nullptr; }
    bool was_result(const Tensor& x) const override { return std::ranges::count(results, leaf_of(x)) != 0; }
    static void fill(Slot& slot, const Saved& value) {
      if (value.view.shape() != slot.shape || value.dtype != slot.dtype)
        throw_differs(text("tensor ", slot.index, " that it keeps was ", slot.shape, " ", slot.dtype, " and is now ",
                           value.view.shape(), " ", value.dtype));
      if (slot.leaf.empty())
        slot.value = value;
      else if (slot.leaf.storage != value.storage)
        throw_differs("it reads another parameter than the first time");
    }
    Call& call;
    std::vector<const Node*> results;  // leaves that stand for results of ops
    size_t next = 0;
  };
  static void check_vmap_runs(const Tensor& x) {
    if (!x.defined() || x.device().kind != DeviceKind::vmap || batching::is_running(x)) return;
    throw GradientError(
        "checkpoint: the function ran inside a vmap that has ended and cannot be run again; take the gradient inside "
        "of vmap, or call checkpoint() outside and vmap() in its function");
  }

  Function f_;
  DType autocast_;
  std::vector<Saved> inputs_;
  std::vector<bool> needs_, results_;  // which inputs need a gradient, and which of these are no leaves
  const uint64_t start_ = Node::next_sequence();
  ActiveStates active_;
  RandomLog random_;
  OnceLog once_;
  std::vector<std::weak_ptr<Slot>> slots_;
  bool finished_ = false;
};

Tensor Slot::unpack(const Shape& shape, DType dtype) {
  if (!leaf.empty()) return unpacked(leaf, "parameter", index);
  if (value.empty()) call->run_again();
  if (value.empty())
    throw_differs(text("tensor ", index, " that it keeps was ", shape, " ", dtype, " and is now missing"));
  return unpacked(value, "saved tensor", index);
}

}  // namespace

std::vector<Tensor> checkpoint_of(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> f,
                                  const std::vector<Tensor>& inputs) {
  if (!is_recording()) return f(inputs);
  return std::make_shared<Call>(std::move(f), inputs)->run_first(inputs);
}

}  // namespace weft::autograd
