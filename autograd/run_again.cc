#include "autograd/run_again.h"

#include <utility>

#include "tensor/core/error.h"
#include "tensor/runtime/thread_object.h"

namespace weft::autograd {
namespace {

thread_local OnceScope* scope = nullptr;

ActiveStates& states() {
  return detail::thread_object<ActiveStates>([] { return ActiveStates(); });
}

}  // namespace

void throw_differs(const std::string& how) {
  throw GradientError("a checkpointed function must do the same when it is run again: " + how);
}

OnceScope::OnceScope(Kind kind, OnceLog& log) : kind_(kind), log_(log), outer_(std::exchange(scope, this)) {}

OnceScope::~OnceScope() { scope = outer_; }

std::vector<Tensor> OnceScope::next(const std::function<std::vector<Tensor>()>& f) {
  if (kind_ == Kind::note) {
    log_.push_back(outer_ != nullptr ? outer_->next(f) : f());
    return log_.back();
  }
  if (next_ == log_.size()) throw_differs("it updates the state of more layers than the first time");
  return log_[next_++];
}

std::vector<Tensor> once(const std::function<std::vector<Tensor>()>& f) {
  return scope != nullptr ? scope->next(f) : f();
}

const ActiveStates& active_states() { return states(); }

ActiveScope::ActiveScope(std::shared_ptr<const ActiveState> state) { states().push_back(std::move(state)); }

ActiveScope::~ActiveScope() { states().pop_back(); }

EnteredStates::EnteredStates(const ActiveStates& active) : before_(active) {
  try {
    for (const auto& state : active) entered_.push_back(state->enter());
  } catch (...) {
    leave();
    throw;
  }
  states().swap(before_);
}

EnteredStates::~EnteredStates() {
  leave();
  states().swap(before_);
}

/// Innermost first.
void EnteredStates::leave() {
  while (!entered_.empty()) entered_.pop_back();
}

}  // namespace weft::autograd
