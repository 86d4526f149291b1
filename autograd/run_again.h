// What a function needs to compute the same when checkpoint() runs it again: effects that happen once, and the state of
// the thread that it saw.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace weft::autograd {

/// Returns f(); while a checkpointed function runs again, what f gave the first time, without calling it. For values
/// that depend on a state which moves on from call to call, and for writes that must happen once.
std::vector<Tensor> once(const std::function<std::vector<Tensor>()>& f);

/// GradientError: a checkpointed function did not do the same when it ran again, but what `how` says.
[[noreturn]] void throw_differs(const std::string& how);

/// Results of once(), in order.
using OnceLog = std::vector<std::vector<Tensor>>;

/// While alive, once() on this thread notes its results in `log`, or repeats them. Scopes nest.
class OnceScope {
 public:
  enum class Kind { note, repeat };
  OnceScope(Kind kind, OnceLog& log);
  ~OnceScope();
  OnceScope(const OnceScope&) = delete;
  OnceScope& operator=(const OnceScope&) = delete;

 private:
  friend std::vector<Tensor> once(const std::function<std::vector<Tensor>()>& f);
  std::vector<Tensor> next(const std::function<std::vector<Tensor>()>& f);
  Kind kind_;
  OnceLog& log_;
  size_t next_ = 0;
  OnceScope* outer_;
};

/// A state that functions see while it is active, such as the replaced weights of nn::functional_call().
class ActiveState {
 public:
  virtual ~ActiveState() = default;
  /// Makes it active again until the result is destroyed.
  virtual std::shared_ptr<void> enter() const = 0;
};
using ActiveStates = std::vector<std::shared_ptr<const ActiveState>>;

/// The calling thread's active states, outermost first.
const ActiveStates& active_states();

/// Notes that `state` is active while this object is alive.
class ActiveScope {
 public:
  explicit ActiveScope(std::shared_ptr<const ActiveState> state);
  ~ActiveScope();
  ActiveScope(const ActiveScope&) = delete;
  ActiveScope& operator=(const ActiveScope&) = delete;
};

/// Makes `states` those that are active while this object is alive.
class EnteredStates {
 public:
  explicit EnteredStates(const ActiveStates& states);
  ~EnteredStates();
  EnteredStates(const EnteredStates&) = delete;
  EnteredStates& operator=(const EnteredStates&) = delete;

 private:
  void leave();
  ActiveStates before_;
  std::vector<std::shared_ptr<void>> entered_;
};

}  // namespace weft::autograd
