// Threads: one OpenMP pool serves all kernels; a data loader's thread runs its ops serially.
#pragma once

namespace weft {

/// Kernels cut their work into `count` parts from now on, so that results have the same bits in every run. Without a
/// chosen count (neither here nor by OMP_NUM_THREADS) the number of cores decides, and fewer parts are made while other
/// processes want the cores. With one, the parts stay, and fewer threads run them (tensor/runtime/backoff.h). A child
/// of fork() runs serially where its parent had started threads. Error where count < 1.
void set_num_threads(int count);
/// The chosen count, or the number of cores; 1 in a forked child that runs serially.
int num_threads();

namespace internal {
/// Whether set_num_threads() or OMP_NUM_THREADS chose a count.
bool is_count_chosen();
}  // namespace internal

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
