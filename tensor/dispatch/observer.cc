#include "tensor/dispatch/observer.h"

#include <exception>
#include <utility>

#include "tensor/core/error.h"
#include "tensor/dispatch/op_call.h"

namespace weft {

ObserverScope::ObserverScope(Observer& observer) : observer_(observer) {
  for (const Observer* other = internal::modes().observer; other != nullptr; other = other->next_)
    if (other == &observer) throw Error("ObserverScope: this observer is in the chain of this thread already");
  observer_.next_ = std::exchange(internal::modes().observer, &observer_);
}

// Not always the first: scopes on the heap may end in any order.
ObserverScope::~ObserverScope() {
  Observer** place = &internal::modes().observer;
  while (*place != nullptr && *place != &observer_) place = &(*place)->next_;
  if (*place != nullptr) *place = observer_.next_;
}

ObservedEvent::ObservedEvent(const ObserverEvent& event) : event_(event), exceptions_(std::uncaught_exceptions()) {
  tell(&Observer::begin);
}

ObservedEvent::~ObservedEvent() noexcept(false) {
  if (std::uncaught_exceptions() == exceptions_) {
    tell(&Observer::end);
    return;
  }
  try {
    tell(&Observer::end);
  } catch (...) {  // the error that is under way is the one to report
  }
}

void ObservedEvent::tell(void (Observer::*what)(const ObserverEvent&)) const {
  Observer* const chain = std::exchange(internal::modes().observer, nullptr);
  struct Restore {
    Observer* chain;
    ~Restore() { internal::modes().observer = chain; }
  } restore{chain};
  for (Observer* observer = chain; observer != nullptr; observer = observer->next_) (observer->*what)(event_);
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
