// Provenance: what a tensor's user can ask of its history. tensor/ knows only this interface; its one implementation
// is autograd::Node.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tensor/core/intrusive.h"

namespace weft {

class Tensor;
struct BackwardOptions;
struct OpInfo;
struct OpCall;

/// A gradient hook: its result replaces the gradient unless it is undefined.
using GradientHook = std::function<Tensor(const Tensor&)>;
/// Called with a leaf's gradient once it is complete and accumulated.
using AccumulatedHook = std::function<void(const Tensor&)>;

class Provenance : public RefCounted {
 public:
  virtual ~Provenance() = default;

  bool requires_grad() const noexcept { return requires_grad_; }
  bool is_leaf() const noexcept { return leaf_; }
  /// A view (of a view ...) of a leaf: what an optimizer writes shows through it.
  bool is_view_of_leaf() const noexcept { return view_of_leaf_; }

  /// Gives the outputs of `call` their history. Called on the history of one of its inputs.
  virtual void record(const OpCall& call) const = 0;
  /// Whether the op described by `info`, recorded with these inputs, would keep input `index` for its gradient.
  virtual bool would_keep(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index) const = 0;
  /// Runs backward from output `index` of this history; `seed` is its gradient.
  virtual void backward(int index, const Tensor& seed, const BackwardOptions& options) = 0;
  /// Calls the hook with the gradient of output `index`; the result's number takes it off again.
  virtual int add_hook(int index, GradientHook hook) = 0;
  virtual void remove_hook(int number) = 0;
  /// The op that made it, or a leaf's name.
  virtual std::string name() const = 0;

  // Of leaves, and of outputs whose gradient is retained; elsewhere they throw GradientError.
  virtual Tensor gradient(int index) const = 0;
  virtual void set_gradient(int index, const Tensor& gradient) = 0;
  /// From now on adds the gradient of output `index`, after its hooks, to gradient(index); does nothing for a leaf.
  virtual void retain_gradient(int index) = 0;

  // Of leaves only; elsewhere they throw GradientError.
  /// Calls the hook after each accumulation; remove_hook() takes it off again.
  virtual int add_accumulated_hook(AccumulatedHook hook) = 0;
  virtual void set_requires_grad(bool value) = 0;
  virtual void set_name(const std::string& name) = 0;
  /// The leaf's tensor has new memory (module.to(dtype)).
  virtual void replaced(const Tensor& leaf) = 0;

 protected:
  bool requires_grad_ = true;
  bool leaf_ = false;
  bool view_of_leaf_ = false;

 private:
  friend void destroy(Provenance* history) noexcept { history->dispose(); }
  /// Deletes the object without recursion along long chains.
  virtual void dispose() noexcept = 0;
};

}  // namespace weft
