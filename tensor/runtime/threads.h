// Threads: one OpenMP pool serves all kernels; a data loader's thread runs its ops serially.
#pragma once

namespace weft {

/// Sets the number of threads. Work is then always divided into `count` parts, so results have the same bits in every
/// run, even if fewer threads run them on a busy machine. If it is never set (here or by OMP_NUM_THREADS), all cores
/// are used, as far as the container's CPU limit allows, or fewer while other processes need them. A child of fork()
/// runs serially if its parent had started threads. Error unless 1 <= count <= 1024.
void set_num_threads(int count);
/// The chosen count, or the number of cores that may be used; no more than OMP_THREAD_LIMIT; 1 in a forked child that
/// runs serially.
int num_threads();

namespace internal {
/// Whether set_num_threads() or OMP_NUM_THREADS chose a count.
bool is_count_chosen();
/// To be called before OpenMP starts a team: a child of fork() must know that it has none.
void watch_forks();
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
