#include "tensor/core/random.h"

#include <pthread.h>

#include <mutex>
#include <utility>

#include "tensor/core/error.h"

namespace weft {

namespace {
// One for all generators: it is held for a few instructions.
constinit std::mutex mutex;
constinit thread_local RandomScope* scope = nullptr;

// A child of fork() would wait for a thread of its parent that was drawing.
[[maybe_unused]] const int watches_forks =
    ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}  // namespace

Generator& default_generator() {
  static Generator generator;
  return generator;
}

RandomState Generator::state() const {
  const std::lock_guard lock(mutex);
  return state_;
}

void Generator::set_state(RandomState restored) {
  // What is run again has its keys from the log: a seed that it sets must not reach who draws after it.
  for (const RandomScope* s = scope; s != nullptr; s = s->outer_)
    if (s->kind_ == RandomScope::Kind::repeat) return;
  const std::lock_guard lock(mutex);
  state_ = restored;
}

RandomKey Generator::next_key(int64_t count) {
  if (count < 0) throw Error(text("cannot draw ", count, " random numbers"));
  return scope != nullptr ? scope->next(*this, count) : take(count);
}

RandomKey Generator::take(int64_t count) {
  const std::lock_guard lock(mutex);
  const RandomKey key = state_;
  state_.offset += (static_cast<uint64_t>(count) + 1) / 2;  // a block holds at least two elements
  return key;
}

std::vector<Generator> Generator::split(int64_t count) {
  if (count < 0) throw Error(text("Generator::split: the number of generators must be 0 or more, not ", count));
  std::vector<Generator> out;
  try {
    out.reserve(static_cast<size_t>(count));
  } catch (const std::exception&) {  // bad_alloc, or length_error where it leaves the address space
    throw MemoryError(text("Generator::split: out of memory: ", count, " generators"));
  }
  const RandomKey key = next_key(1);
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    // Streams have 0 in the last word of the counter: these numbers are in none of them.
    const std::array<uint32_t, 4> counter = {static_cast<uint32_t>(key.offset), static_cast<uint32_t>(key.offset >> 32),
                                             static_cast<uint32_t>(i), 1 + static_cast<uint32_t>(i >> 32)};
    const auto bits = philox(counter, {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
    out.emplace_back(uint64_t{bits[1]} << 32 | bits[0]);
  }
  return out;
}

RandomScope::RandomScope(Kind kind, RandomLog& log) : kind_(kind), log_(log), outer_(std::exchange(scope, this)) {}

RandomScope::~RandomScope() { scope = outer_; }

RandomKey RandomScope::next(Generator& generator, int64_t count) {
  if (kind_ == Kind::refuse) {
    if (&generator == &default_generator())
      throw Error(
          "a dataset draws from the default generator on a loader's thread, where the order of draws is left open; "
          "override sample() and is_random(), and draw from its key");
    return outer_ != nullptr ? outer_->next(generator, count) : generator.take(count);
  }
  if (kind_ == Kind::repeat) {
    if (next_ == log_.size())
      throw Error(text("what is run again draws random numbers more often than the ", log_.size(), " times before"));
    return log_[next_++];
  }
  const RandomKey key = outer_ != nullptr ? outer_->next(generator, count) : generator.take(count);
  log_.push_back(key);
  return key;
}

}  // namespace weft
