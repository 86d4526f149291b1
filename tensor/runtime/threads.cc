// The thread count is one figure for the whole process. OpenMP keeps its own per thread (a new std::thread starts from
// the environment's), so weft's kernels always pass theirs explicitly, and what goes through OpenMP's default (oneDNN)
// is set on the thread that calls set_num_threads or opens a SerialScope.
//
// While threads wait for work, libgomp spins for a while, which costs milliseconds per step when another process wants
// the core: unless somebody chose the count, backoff.h notices that and takes fewer threads. (OMP_WAIT_POLICY and
// OMP_PROC_BIND would have to be in the environment before main; a library cannot set them.)
#include "tensor/runtime/threads.h"

#include <atomic>
#include <cstdlib>

#include "tensor/core/error.h"
#include "tensor/runtime/backoff.h"
#include "tensor/runtime/parallel.h"

namespace weft {

namespace {

std::atomic<int> chosen_count{0};  // 0: nobody chose, the environment decides
thread_local bool serial = false;

/// Then the count is fixed: oneDNN's sums depend on it in their last bits.
bool somebody_chose() {
  static const bool by_environment = std::getenv("OMP_NUM_THREADS") != nullptr;
  return by_environment || chosen_count.load(std::memory_order_relaxed) != 0;
}

#ifdef _OPENMP
/// What OpenMP would use in a process where nobody chose: OMP_NUM_THREADS or the number of cores.
int default_count() {
  static const int count = omp_get_max_threads();
  return count;
}
void set_openmp_count(int count) { omp_set_num_threads(count); }
#else
int default_count() { return 1; }
void set_openmp_count(int) {}
#endif

}  // namespace

void set_num_threads(int count) {
  if (count < 1) throw Error(text("the number of threads must be at least 1, not ", count));
  default_count();  // remember the environment's before it is overwritten
  chosen_count.store(count, std::memory_order_relaxed);
  if (!serial) set_openmp_count(count);
}

int num_threads() {
  const int count = chosen_count.load(std::memory_order_relaxed);
  return count != 0 ? count : default_count();
}

SerialScope::SerialScope() : previous_(serial) {
  num_threads();  // remember the environment's count before OpenMP's is overwritten
  serial = true;
  set_openmp_count(1);
}

SerialScope::~SerialScope() {
  serial = previous_;
  if (!serial) set_openmp_count(num_threads());
}

namespace kernels::cpu {

int region_threads() {
  if (serial) return 1;
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
#endif
  return somebody_chose() ? num_threads() : detail::threads_after_backoff(num_threads());
}

}  // namespace kernels::cpu
}  // namespace weft
