// Handlers of signals run on the stack of the thread that they interrupt, which must be where its stack pointer is.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/time.h>
#include <ucontext.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "tensor/functions/matmul.h"
#include "tensor/functions/random.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

#ifdef __x86_64__
uintptr_t lowest = 0, highest = 0;  // of the main thread's stack
pthread_t main_thread;
volatile std::sig_atomic_t signals = 0, elsewhere = 0;

/// On a stack of its own, so that it can look without doing harm.
void look(int /*signal*/, siginfo_t* /*info*/, void* context) {
  if (pthread_equal(pthread_self(), main_thread) == 0) return;
  const auto at = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  signals = signals + 1;
  if (at < lowest || at >= highest) elsewhere = elsewhere + 1;
}

/// Sends a signal every 100 us while alive.
class Timer {
 public:
  Timer() {
    main_thread = pthread_self();
    pthread_attr_t attributes;
    pthread_getattr_np(main_thread, &attributes);
    void* stack = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    lowest = reinterpret_cast<uintptr_t>(stack);
    highest = lowest + size;
    stack_t own{};
    own.ss_sp = memory_.data();
    own.ss_size = memory_.size();
    sigaltstack(&own, &stack_before_);
    struct sigaction action {};
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    const itimerval every{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~Timer() {
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
    sigaltstack(&stack_before_, nullptr);
  }

 private:
  static inline std::array<char, 1 << 16> memory_;
  struct sigaction before_ {};
  stack_t stack_before_{};
};

TEST(Signal, ProductsKeepTheStackPointerOnTheStack) {
  const int threads = num_threads();
  set_num_threads(1);
  const Timer timer;
  // Sums of up to 84 terms need nothing on the heap.
  for (const int64_t terms : {84, 85, 512})
    for (const bool transposed : {false, true})
      for (const int64_t rows : {3, 8, 16, 32, 512}) {
        const Tensor a = transposed ? randn({terms, rows}).t() : randn({rows, terms}), b = randn({terms, 512});
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
        while (std::chrono::steady_clock::now() < end) matmul(a, b);
        EXPECT_EQ(elsewhere, 0) << rows << " rows of " << terms << (transposed ? ", transposed" : "");
      }
  EXPECT_GT(signals, 0);
  set_num_threads(threads);
}
#endif

}  // namespace
}  // namespace weft
