// Observer: sees what runs on its thread, at its begin and at its end: ops, layers and nodes of backward. The one
// mechanism behind summary() and AnomalyMode, and what a profiler or a capture is built on.
#pragma once

#include <span>
#include <string_view>

#include "tensor/dispatch/modes.h"

namespace weft {

class Tensor;
struct OpInfo;

/// What begins or ends. The thread is the calling one; device, shapes, dtypes and bytes are the tensors'.
struct ObserverEvent {
  enum class Kind { op, layer, backward };
  Kind kind;
  std::string_view name;                       // of the op, the layer's class, or the op whose gradient is computed
  const OpInfo* info = nullptr;                // of an op
  const void* op = nullptr;                    // the descriptor that `info` describes
  const void* layer = nullptr;                 // which layer it is
  std::span<const Tensor* const> inputs = {};  // undefined where optional and absent
  std::span<const Tensor> outputs = {};        // empty at the begin, and at the end of what threw
};

/// Observers form a chain; the one added last comes first. Ops that an observer runs itself are not observed.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const ObserverEvent&) {}
  virtual void end(const ObserverEvent&) {}

 private:
  friend class ObserverScope;
  friend class ObservedEvent;
  Observer* next_ = nullptr;
};

/// Adds an observer to the thread's chain while alive.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer);
  ~ObserverScope();
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observer& observer_;
};

/// Tells the thread's observers of one event: its begin at construction, its end at destruction. Costs one thread-local
/// read where there are none; make the ObserverEvent only where is_observed().
inline bool is_observed() { return modes().observer != nullptr; }
class ObservedEvent {
 public:
  explicit ObservedEvent(const ObserverEvent& event);
  ~ObservedEvent() noexcept(false);
  ObservedEvent(const ObservedEvent&) = delete;
  ObservedEvent& operator=(const ObservedEvent&) = delete;
  /// The results, which must live until the destruction.
  void set_outputs(std::span<const Tensor> outputs) { event_.outputs = outputs; }

 private:
  void tell(void (Observer::*what)(const ObserverEvent&)) const;
  ObserverEvent event_;
  int exceptions_;
};

}  // namespace weft
