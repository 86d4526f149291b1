// Threads: one OpenMP pool serves all kernels; a data loader's thread runs its ops serially.
#pragma once

namespace weft {

/// Kernels use exactly `count` threads from now on. Where nobody chose a count, neither here nor by OMP_NUM_THREADS, they
/// use as many as there are cores, and fewer while other processes want these (tensor/runtime/backoff.h).
/// Errors: Error where count < 1.
void set_num_threads(int count);
/// What was chosen, or the number of cores.
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
