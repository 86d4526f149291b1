// Scopes that switch the recording of history on and off.
#pragma once

#include "tensor/dispatch/modes.h"

namespace weft {

/// Sets the calling thread's recording mode while alive.
class GradMode : internal::ModeScope<bool> {
 public:
  [[nodiscard]] explicit GradMode(bool recording) : ModeScope(&internal::Modes::recording, recording) {}
};

/// While alive, ops are not recorded: `NoGrad guard;`
class NoGrad : public GradMode {
 public:
  [[nodiscard]] NoGrad() : GradMode(false) {}
};

/// While alive, ops are recorded, also inside of a NoGrad.
class EnableGrad : public GradMode {
 public:
  [[nodiscard]] EnableGrad() : GradMode(true) {}
};

inline bool is_recording() { return internal::modes().recording; }

}  // namespace weft
