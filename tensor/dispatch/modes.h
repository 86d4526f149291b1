// Modes: the thread-local state that dispatch reads.
#pragma once

#include "tensor/core/dtype.h"

namespace weft {
class Observer;
}

namespace weft::internal {

struct Modes {
  bool recording = true;         // ops record history
  DType autocast = f32;          // the dtype of the Autocast scope; f32: no scope
  Observer* observer = nullptr;  // the first observer of the chain
};

/// The calling thread's modes.
inline Modes& modes() {
  static thread_local constinit Modes instance;
  return instance;
}

/// Sets one mode while alive: `ModeScope scope(&Modes::recording, false);`
template <class T> class ModeScope {
 public:
  ModeScope(T Modes::*mode, T value) : mode_(mode), previous_(modes().*mode) { modes().*mode = value; }
  ~ModeScope() { modes().*mode_ = previous_; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  T Modes::*mode_;
  T previous_;
};

}  // namespace weft::internal
