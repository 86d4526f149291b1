// Threads: one OpenMP pool serves all kernels; a data loader's thread runs its ops serially.
#pragma once

namespace weft {

/// The number of threads kernels use; at least 1. Errors: Error where count < 1.
void set_num_threads(int count);
int num_threads();

/// While alive, kernels on this thread run serially (a loader's thread beside the training thread).
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool previous_;
};

}  // namespace weft
