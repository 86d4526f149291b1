// Fails one `new` after the other, for tests of what is left behind where memory runs out. It replaces the operators of
// the whole program, so it is included by one source file of a test, which has a binary of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>

#include "tensor/core/error.h"

namespace weft::test {

/// While it exists, the `nth` allocation from now on throws std::bad_alloc: on whichever thread, or on this one, or all
/// of this one from the `nth` on.
class FailingAllocation {
 public:
  enum class Where { anywhere, here, here_on };
  explicit FailingAllocation(int64_t nth, Where where = Where::anywhere) {
    lasts_ = where == Where::here_on;
    if (where == Where::anywhere)
      left_ = nth;
    else
      left_here_ = nth_here_ = nth;
  }
  /// All allocations on this thread while when(), which asks for no memory, is true.
  explicit FailingAllocation(bool (*when)()) { when_ = when; }
  ~FailingAllocation() { left_ = left_here_ = 0, when_ = nullptr; }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  /// Whether it came to that.
  static bool has_failed() { return left_ <= 0; }
  /// How many allocations this thread has made since, where it is told `here` or `here_on`.
  static int64_t made() { return nth_here_ - left_here_; }
  /// Called by each allocation: whether it fails.
  static bool fails_now() {
    if (when_ != nullptr && when_()) return true;
    if (left_here_ > 0) {
      const bool fails = left_here_ == 1;
      if (!fails || !lasts_) --left_here_;
      return fails;
    }
    return left_ > 0 && left_.fetch_sub(1) == 1;
  }

 private:
  static inline thread_local int64_t left_here_ = 0, nth_here_ = 0;
  static inline thread_local bool lasts_ = false;
  static inline thread_local bool (*when_)() = nullptr;
  static inline std::atomic<int64_t> left_ = 0;
};

/// Calls operation() with its first allocation failing, then with its second, and so on until it has no more, and
/// check(error) after each call that threw: a weft::Error or std::bad_alloc, as what is thrown must be one.
/// A call in which an allocation failed need not throw.
template <class Operation, class Check> void fail_each_allocation(const Operation& operation, const Check& check) {
  int64_t thrown = 0;
  bool failed = true;
  for (int64_t nth = 1; failed; ++nth) {
    std::exception_ptr error;
    {
      const FailingAllocation failing(nth);
      try {
        operation();
      } catch (const Error&) {
        error = std::current_exception();
      } catch (const std::bad_alloc&) {
        error = std::current_exception();
      }
      failed = FailingAllocation::has_failed();
    }
    if (!error) continue;
    ++thrown;
    SCOPED_TRACE(nth);
    check(error);
  }
  EXPECT_GT(thrown, 0) << "no allocation failed";
}

}  // namespace weft::test

// ---- the replaced operators; what is aligned more strictly keeps its own ----
// (g++ warns of a free() that it sees inlined where the memory is of `new`.)
// NOLINTBEGIN(misc-definitions-in-headers)

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return weft::test::FailingAllocation::fails_now() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t& nothrow) noexcept { return operator new(bytes, nothrow); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

// NOLINTEND(misc-definitions-in-headers)
