#include "tensor/dispatch/observer.h"

#include <exception>
#include <utility>

namespace weft {

ObserverScope::ObserverScope(Observer& observer) : observer_(observer) {
  observer_.next_ = std::exchange(internal::modes().observer, &observer_);
}

ObserverScope::~ObserverScope() { internal::modes().observer = observer_.next_; }

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

}  // namespace weft
