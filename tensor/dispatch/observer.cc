#include "tensor/dispatch/observer.h"

#include <utility>

#include "tensor/core/error.h"
#include "tensor/dispatch/op_call.h"

namespace weft {
namespace {

/// The observers of a thread. Modes::observer is `first` too, but null while ops are not to be observed.
struct Chain {
  Observer* first = nullptr;
  Observer* upcoming = nullptr;  // while observers are notified of an event: the next one
  Observer* stop = nullptr;      // the first that was not told of the begin, where the begin() before it threw
  bool telling = false;
};
thread_local constinit Chain chain;

/// While alive, observers are being notified of an event, beginning with `chain.upcoming`.
struct Telling {
  Telling() {
    chain.upcoming = std::exchange(internal::modes().observer, nullptr);
    chain.telling = true;
  }
  ~Telling() {
    chain.upcoming = chain.stop = nullptr;
    chain.telling = false;
    internal::modes().observer = chain.first;
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

}  // namespace

Observer* internal::first_observer() { return chain.first; }

bool internal::observers_need_separate_ops() {
  for (const Observer* observer = chain.first; observer != nullptr; observer = observer->next_)
    if (observer->needs_separate_ops()) return true;
  return false;
}

ObserverScope::ObserverScope(Observer& observer) : observer_(observer) {
  for (const Observer* other = chain.first; other != nullptr; other = other->next_)
    if (other == &observer) throw Error("ObserverScope: this observer is in the chain of this thread already");
  observer_.next_ = std::exchange(chain.first, &observer_);
  if (!chain.telling) internal::modes().observer = &observer_;
}

// Not always the first: scopes on the heap may end in any order, also when an observer is told of an event.
ObserverScope::~ObserverScope() {
  Observer** place = &chain.first;
  while (*place != nullptr && *place != &observer_) place = &(*place)->next_;
  if (*place != nullptr) *place = observer_.next_;
  for (Observer** at : {&chain.upcoming, &chain.stop, &internal::modes().observer})
    if (*at == &observer_) *at = observer_.next_;
}

ObservedEvent::ObservedEvent(const ObserverEvent& event) : event_(event), exceptions_(std::uncaught_exceptions()) {
  if (!is_observed()) return;
  const Telling telling;
  while (Observer* const observer = chain.upcoming) {
    chain.upcoming = observer->next_;
    try {
      observer->begin(event_);
    } catch (...) {
      chain.stop = std::exchange(chain.upcoming, chain.first);
      (void)tell_end(observer);
      throw;
    }
  }
}

ObservedEvent::~ObservedEvent() noexcept(false) {
  if (!is_observed()) return;
  std::exception_ptr error;
  {
    const Telling telling;
    error = tell_end(nullptr);
  }
  // An error that is under way is the one to report.
  if (error && std::uncaught_exceptions() == exceptions_) std::rethrow_exception(error);
}

std::exception_ptr ObservedEvent::tell_end(const Observer* failed) const {
  std::exception_ptr error;
  while (Observer* const observer = chain.upcoming) {
    if (observer == chain.stop) break;
    chain.upcoming = observer->next_;
    if (observer == failed) continue;
    try {
      observer->end(event_);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  return error;
}

ObserverEvent dispatch::event_of(const OpCall& call) {
  return {.kind = ObserverEvent::Kind::op,
          .name = call.info.name,
          .info = &call.info,
          .op = call.op,
          .inputs = call.inputs};
}

void dispatch::observe(const OpCall& call) {
  ObservedEvent event(event_of(call));
  event.set_outputs(call.outputs);
}

}  // namespace weft
