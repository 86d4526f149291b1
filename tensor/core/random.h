// Random numbers by counter: element i of a stream is a pure function of (key, i), so results depend neither on the
// number of threads nor on the order of work. Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// Names a stream: an op that draws carries one as an attribute, so that it stays pure and can be replayed.
struct RandomKey {
  uint64_t seed = 0;
  /// The first of the stream's 128-bit blocks.
  uint64_t offset = 0;
  bool operator==(const RandomKey&) const = default;
};

/// Where a generator stands; that of the process is saved and restored with a checkpoint.
using RandomState = RandomKey;

/// The seed of a process that never calls manual_seed: a run that says nothing is reproducible too.
inline constexpr uint64_t kDefaultSeed = 0;

/// A source of random numbers that functions draw from: what they give depends on its seed and on what was drawn
/// before. Threads may draw from one generator at once; which draws first decides who gets what. A copy draws the same
/// numbers.
class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed) : state_{seed, 0} {}
  explicit Generator(RandomState state) : state_(state) {}
  /// Starts anew: what is drawn from here on depends on `seed` alone.
  void manual_seed(uint64_t seed) { set_state({seed, 0}); }
  RandomState state() const;
  void set_state(RandomState state);
  /// A key for `count` elements (any of the functions below), which no other call will get. Throws Error where count <
  /// 0.
  RandomKey next_key(int64_t count);
  /// `count` generators whose streams have nothing to do with this one's and with each other; this one moves on by one
  /// element, so that the next split gives others. For threads and layers that must not depend on who draws first.
  std::vector<Generator> split(int64_t count);

 private:
  friend class RandomScope;
  /// The key of next_key() where no RandomScope says otherwise.
  RandomKey take(int64_t count);
  RandomState state_;
};

/// The process's generator, which is drawn from where a call names none.
Generator& default_generator();
inline void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }
inline RandomState random_state() { return default_generator().state(); }
inline void set_random_state(RandomState state) { default_generator().set_state(state); }
inline RandomKey next_random_key(int64_t count) { return default_generator().next_key(count); }

/// The keys that a stretch of code drew, in order.
using RandomLog = std::vector<RandomKey>;

/// Says where the calling thread's keys come from while alive: from the generator as usual, each noted in the log; or
/// from the log, so that the same code draws the same numbers again (Error where it draws more). Scopes nest.
class RandomScope {
 public:
  enum class Kind { note, repeat };
  RandomScope(Kind kind, RandomLog& log);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

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

/// [0, 1) in steps of 2^-24; every value is exact in f32.
constexpr float to_uniform(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
/// [0, 1) in steps of 2^-53.
constexpr double to_uniform(uint32_t low, uint32_t high) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

/// A block gives four floats or two doubles; element i of a stream is number i % 4 (i % 2) of block i / 4 (i / 2).
/// A kernel walks blocks; for single elements there are the functions below.
constexpr std::array<float, 4> uniform_block(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return {to_uniform(bits[0]), to_uniform(bits[1]), to_uniform(bits[2]), to_uniform(bits[3])};
}
constexpr std::array<double, 2> uniform_block_f64(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return {to_uniform(bits[0], bits[1]), to_uniform(bits[2], bits[3])};
}

/// Element `i` of a stream of 32-bit numbers, of uniforms in [0, 1).
constexpr uint32_t random_bits(RandomKey key, uint64_t i) { return random_block(key, i / 4)[i % 4]; }
template <class T> T uniform_element(RandomKey key, uint64_t i) {
  if constexpr (sizeof(T) == 8)
    return uniform_block_f64(key, i / 2)[i % 2];
  else
    return uniform_block(key, i / 4)[i % 4];
}

}  // namespace weft
