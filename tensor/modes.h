// Modes: the one thread-local struct the door reads.
#pragma once

#include <span>

namespace weft {

class Tensor;
struct OpInfo;

/// Sees every op that passes the door on its thread (profiling, summaries, anomaly mode). Observers form a chain.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After the op ran. `op` is the descriptor that `info` describes.
  virtual void ran(const OpInfo& info, const void* op, std::span<const Tensor* const> inputs,
                   std::span<const Tensor> outputs) = 0;
  Observer* next = nullptr;
};

struct Modes {
  bool recording = true;         // ops leave history
  Observer* observer = nullptr;  // head of the chain
};

/// The calling thread's modes.
inline Modes& modes() {
  static thread_local constinit Modes instance;
  return instance;
}

/// Puts an observer in front of the chain while alive.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer) : observer_(observer) {
    observer_.next = modes().observer;
    modes().observer = &observer_;
  }
  ~ObserverScope() { modes().observer = observer_.next; }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observer& observer_;
};

}  // namespace weft
