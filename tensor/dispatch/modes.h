// Modes: the one thread-local struct that dispatch reads.
#pragma once

#include "tensor/core/dtype.h"

namespace weft {

class Observer;

struct Modes {
  bool recording = true;         // ops leave history
  DType autocast = f32;          // what an Autocast scope casts products to; f32: no scope
  Observer* observer = nullptr;  // head of the chain
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

}  // namespace weft
