// Counter-based random numbers: element i of a stream is a pure function of (key, i), so results do not depend on the
// number of threads or the order of computation. The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// Identifies a stream of random numbers. A random op has its key as an attribute, so that the op is deterministic and
/// can be replayed.
struct RandomKey {
  uint64_t seed = 0;
  /// The first of the stream's 128-bit blocks.
  uint64_t offset = 0;
  bool operator==(const RandomKey&) const = default;
};

/// The state of a generator. A checkpoint saves and restores the state of the process's generator.
using RandomState = RandomKey;

/// The seed of a process that never calls manual_seed. It is constant, so such a process is reproducible too.
inline constexpr uint64_t kDefaultSeed = 0;

/// A source of random numbers for random functions. The numbers depend on the seed and on what was drawn before.
/// Several threads may use one generator at the same time; the numbers each gets then depend on the order of their
/// calls. A copy of a generator draws the same numbers as the original.
class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed) : state_{seed, 0} {}
  explicit Generator(RandomState state) : state_(state) {}
  /// Resets the generator: all numbers drawn from now on depend only on `seed`.
  void manual_seed(uint64_t seed) { set_state({seed, 0}); }
  RandomState state() const;
  void set_state(RandomState state);
  /// The key of a new stream of `count` elements, which no other call returns. Error if count < 0.
  RandomKey next_key(int64_t count);
  /// `count` generators whose streams are independent of each other and of this generator. This generator advances by
  /// one element, so that the next split gives different ones. Use it if threads or layers must not depend on the order
  /// in which they draw. Error if count < 0, MemoryError for more than memory holds.
  std::vector<Generator> split(int64_t count);

 private:
  friend class RandomScope;
  /// The key of next_key() if no RandomScope is active.
  RandomKey take(int64_t count);
  RandomState state_;
};

/// The generator of the process, used by calls that do not pass one.
Generator& default_generator();
inline void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }
inline RandomState random_state() { return default_generator().state(); }
inline void set_random_state(RandomState state) { default_generator().set_state(state); }
inline RandomKey next_random_key(int64_t count) { return default_generator().next_key(count); }

namespace detail {
/// For the option `generator` of a function, where null means the generator of the process.
inline Generator& generator_or_default(Generator* given) { return given != nullptr ? *given : default_generator(); }
}  // namespace detail

/// The keys that a section of code drew, in order.
using RandomLog = std::vector<RandomKey>;

/// Records or replays the keys that the calling thread draws while the scope is open. `note`: keys come from the
/// generator and are appended to the log. `repeat`: keys come from the log, so that the same code draws the same
/// numbers again; Error if it draws more keys than the log has. `refuse`: Error if it draws from the default generator,
/// as on a thread where the order of its draws is left open. Scopes nest.
class RandomScope {
 public:
  enum class Kind { note, repeat, refuse };
  RandomScope(Kind kind, RandomLog& log);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;
  /// The number of keys that were drawn again.
  std::size_t drawn() const { return next_; }

 private:
  friend class Generator;
  RandomKey next(Generator& generator, int64_t count);
  Kind kind_;
  RandomLog& log_;
  std::size_t next_ = 0;
  RandomScope* outer_;
};

/// Ten rounds of Philox4x32 on a 128-bit counter, as published.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Block `index` of a stream: 128 random bits.
constexpr std::array<uint32_t, 4> random_block(RandomKey key, uint64_t index) {
  const uint64_t at = key.offset + index;
  return philox({static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0},
                {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
}

/// Uniform in [0, 1) in steps of 2^-24; every value is exact in f32.
constexpr float to_uniform(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
/// Uniform in [0, 1) in steps of 2^-53.
constexpr double to_uniform(uint32_t low, uint32_t high) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

/// The uniform numbers of block `index` of a stream: four floats, or two doubles. Element i of a stream is number i % 4
/// of block i / 4 (for doubles, number i % 2 of block i / 2).
constexpr std::array<float, 4> uniform_block(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return {to_uniform(bits[0]), to_uniform(bits[1]), to_uniform(bits[2]), to_uniform(bits[3])};
}
constexpr std::array<double, 2> uniform_block_f64(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return {to_uniform(bits[0], bits[1]), to_uniform(bits[2], bits[3])};
}

/// Element `i` of a stream as 32 random bits, or as a uniform number in [0, 1).
constexpr uint32_t random_bits(RandomKey key, uint64_t i) { return random_block(key, i / 4)[i % 4]; }
template <class T> T uniform_element(RandomKey key, uint64_t i) {
  if constexpr (sizeof(T) == 8)
    return uniform_block_f64(key, i / 2)[i % 2];
  else
    return uniform_block(key, i / 4)[i % 4];
}

}  // namespace weft
