// Observer: is notified at the begin and the end of each op, layer, backward node and section (RecordFunction) that
// runs on its thread. summary(), AnomalyMode and Profiler are observers.
#pragma once

#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "tensor/dispatch/modes.h"

namespace weft {

class Tensor;
struct OpInfo;

namespace internal {
/// Whether an observer of the calling thread needs separate ops (Observer::needs_separate_ops).
bool observers_need_separate_ops();
}  // namespace internal

/// An event that begins or ends on the calling thread. Device, shapes, dtypes and sizes can be read from its tensors.
struct ObserverEvent {
  enum class Kind { op, layer, backward, section };
  Kind kind;
  /// Of the op, of the layer's class, or of the section. Of a backward node: of its op; `leaf` where a gradient is
  /// accumulated; `graph` is a whole run of backward. The characters exist until the event has ended.
  std::string_view name;
  const OpInfo* info = nullptr;  // for an op
  const void* op = nullptr;      // for an op: its descriptor, of the type that `info` describes
  const void* layer = nullptr;   // for a layer: its address
  std::string_view path = {};    // for a layer: Module::path(); for a leaf: the parameter's name
  /// An absent optional input is undefined. The gradients of a backward node are there at its end only if some observer
  /// needs separate ops.
  std::span<const Tensor* const> inputs = {};
  std::span<const Tensor> outputs = {};  // empty at the begin, and at the end if an exception was thrown
};

/// Observers form a chain; the one added last is called first. Ops that an observer itself runs are not observed. What
/// begin() or end() throws leaves the event; an observer whose begin() has returned gets its end() all the same.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const ObserverEvent&) {}
  virtual void end(const ObserverEvent&) {}
  /// Whether ops must run one by one for it, each with results in memory of their own. If no observer of the thread
  /// needs this, layers run fused and results take the memory of temporaries, as they do without observers.
  virtual bool needs_separate_ops() const { return true; }

 private:
  friend class ObserverScope;
  friend class ObservedEvent;
  friend bool internal::observers_need_separate_ops();
  Observer* next_ = nullptr;
};

/// While alive, adds an observer to the chain of this thread, on which it must also be destroyed. Error if the chain
/// holds the observer already.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer);
  ~ObserverScope();
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observer& observer_;
};

/// ObservedEvent notifies the observers of this thread of one event: of its begin in the constructor, of its end in the
/// destructor. Construct an ObserverEvent only if is_observed(), so that without observers the cost is one thread-local
/// read.
inline bool is_observed() { return internal::modes().observer != nullptr; }
class ObservedEvent {
 public:
  explicit ObservedEvent(const ObserverEvent& event);
  ~ObservedEvent() noexcept(false);
  ObservedEvent(const ObservedEvent&) = delete;
  ObservedEvent& operator=(const ObservedEvent&) = delete;
  /// Sets the results, which must exist until this object is destroyed.
  void set_outputs(std::span<const Tensor> outputs) { event_.outputs = outputs; }
  /// The end has no inputs: they do not exist any more.
  void forget_inputs() { event_.inputs = {}; }

 private:
  /// Tells the observers that were told of the begin of the end, but for `failed`, whose begin() threw. Returns the
  /// first error.
  std::exception_ptr tell_end(const Observer* failed) const;
  ObserverEvent event_;
  int exceptions_;
};

namespace internal {

/// The first observer of the calling thread's chain; null if there is none.
Observer* first_observer();

inline bool needs_separate_ops() { return is_observed() && observers_need_separate_ops(); }

/// While alive, observers are not notified of what runs on this thread. (Hooks that run there may end and begin the
/// scopes of observers, so that the one before need not be there any more.)
class Unobserved {
 public:
  Unobserved() : observed_(std::exchange(modes().observer, nullptr) != nullptr) {}
  ~Unobserved() {
    if (observed_) modes().observer = first_observer();
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  bool observed_;
};

}  // namespace internal
}  // namespace weft
