#include "tensor/core/random.h"

#include <algorithm>
#include <type_traits>

#include "tensor/core/random_normal.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/ops/dropout.h"
#include "tensor/ops/random.h"
#include "tensor/ops/stochastic_cast.h"

namespace weft::kernels::cpu {
namespace {

// Philox blocks, of four numbers each, that are drawn at a time.
constexpr int64_t kBlocks = kLoopBlock / 4;

// Blocks first .. first + kBlocks - 1 of a stream, number j of each block in rows[j]: `philox` round by round over
// all of them, which vectorizes.
void philox_rows(RandomKey key, uint64_t first, uint32_t (*rows)[kBlocks]) {
  for (int64_t i = 0; i < kBlocks; ++i) {
    const uint64_t at = key.offset + first + static_cast<uint64_t>(i);
    rows[0][i] = static_cast<uint32_t>(at);
    rows[1][i] = static_cast<uint32_t>(at >> 32);
    rows[2][i] = rows[3][i] = 0;
  }
  uint32_t key0 = static_cast<uint32_t>(key.seed), key1 = static_cast<uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (int64_t i = 0; i < kBlocks; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * rows[0][i], b = uint64_t{0xCD9E8D57} * rows[2][i];
      rows[0][i] = static_cast<uint32_t>(b >> 32) ^ rows[1][i] ^ key0;
      rows[1][i] = static_cast<uint32_t>(b);
      rows[2][i] = static_cast<uint32_t>(a >> 32) ^ rows[3][i] ^ key1;
      rows[3][i] = static_cast<uint32_t>(a);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

// (simd::interleave() takes longer here: rand() of 100,000 floats 78 us instead of 75.)
template <class T> void interleave(const T (*rows)[kBlocks], T* out) {
  for (int64_t i = 0; i < kBlocks; ++i)
    for (int64_t j = 0; j < 4; ++j) out[4 * i + j] = rows[j][i];
}

// Sources of numbers. `draw` gives those of kLoopBlock / kPerBlock Philox blocks.
struct Bits {
  using Value = uint32_t;
  static constexpr int64_t kPerBlock = 4;
  RandomKey key;
  void draw(uint64_t first_block, uint32_t* out) const {
    uint32_t rows[4][kBlocks];
    philox_rows(key, first_block, rows);
    interleave(rows, out);
  }
};

// Numbers of 64 bits, two from each Philox block.
struct WideBits {
  using Value = uint64_t;
  static constexpr int64_t kPerBlock = 2;
  RandomKey key;
  void draw(uint64_t first_block, uint64_t* out) const {
    uint32_t rows[4][kBlocks];
    for (int64_t first = 0; first < kLoopBlock / kPerBlock; first += kBlocks, out += kPerBlock * kBlocks) {
      philox_rows(key, first_block + static_cast<uint64_t>(first), rows);
      for (int64_t i = 0; i < kBlocks; ++i) {
        out[2 * i] = uint64_t{rows[1][i]} << 32 | rows[0][i];
        out[2 * i + 1] = uint64_t{rows[3][i]} << 32 | rows[2][i];
      }
    }
  }
};

// `bits` scaled to [0, range).
uint64_t scale(uint64_t bits, uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(bits) * range) >> 64);
}
// The same of a range below 2^32, of halves that registers can multiply.
uint64_t scale_narrow(uint64_t bits, uint64_t range) {
  return ((bits >> 32) * range + (((bits & 0xffffffffu) * range) >> 32)) >> 32;
}

// Integers from `first` on, `range` of them.
struct Integers {
  using Value = int64_t;
  static constexpr int64_t kPerBlock = 2;
  RandomKey key;
  uint64_t first, range;
  void draw(uint64_t first_block, int64_t* out) const {
    uint64_t bits[kLoopBlock];
    WideBits{key}.draw(first_block, bits);
    if (range >> 32 == 0) {
#pragma omp simd
      for (int64_t i = 0; i < kLoopBlock; ++i) out[i] = static_cast<int64_t>(first + scale_narrow(bits[i], range));
    } else {
      for (int64_t i = 0; i < kLoopBlock; ++i) out[i] = static_cast<int64_t>(first + scale(bits[i], range));
    }
  }
};

// The same, none outside of [least, most].
struct BoundedIntegers : Integers {
  int64_t least, most;
  void draw(uint64_t first_block, int64_t* out) const {
    Integers::draw(first_block, out);
    for (int64_t i = 0; i < kLoopBlock; ++i) out[i] = std::min(std::max(out[i], least), most);
  }
};

// The first of [low, high) that T does not round to less than `bound`; high - 1 where there is none.
template <class T> int64_t first_from(int64_t low, int64_t high, double bound) {
  const auto reaches = [bound](int64_t v) { return convert<double>(convert<T>(v)) >= bound; };
  if (reaches(low)) return low;
  int64_t below = low, above = high - 1;
  while (static_cast<uint64_t>(above) - static_cast<uint64_t>(below) > 1) {
    const auto half = static_cast<int64_t>((static_cast<uint64_t>(above) - static_cast<uint64_t>(below)) / 2);
    (reaches(below + half) ? above : below) = below + half;
  }
  return above;
}

// Those of [low, high) that T rounds to numbers in there; where there are none, low or high - 1 may be rounded.
template <class T> BoundedIntegers bounded(const Integers& numbers, int64_t low, int64_t high) {
  const int64_t least = first_from<T>(low, high, static_cast<double>(low));
  const int64_t end = first_from<T>(low, high, static_cast<double>(high));
  const bool reaches_end = convert<double>(convert<T>(end)) >= static_cast<double>(high);
  return {numbers, least, std::max(least, reaches_end && end > low ? end - 1 : end)};
}

template <int digits> struct Uniform {
  using Value = float;
  static constexpr int64_t kPerBlock = 4;
  RandomKey key;
  void draw(uint64_t first_block, float* out) const {
    uint32_t bits[kLoopBlock];
    Bits{key}.draw(first_block, bits);
#pragma omp simd
    for (int64_t i = 0; i < kLoopBlock; ++i)
      out[i] = static_cast<float>(static_cast<int32_t>(bits[i] >> (32 - digits))) * (1.0f / (1 << digits));
  }
};

// Two normals from two numbers (Box and Muller). All 32 bits go into the radius, so that the tail reaches 6.8; the half
// keeps the logarithm's argument above 0.
void box_muller_rows(const uint32_t* radius_bits, const uint32_t* angle_bits, float* a, float* b) {
#pragma omp simd
  for (int64_t i = 0; i < kBlocks; ++i) {
    const float u = (static_cast<float>(radius_bits[i]) + 0.5f) * 0x1p-32f;
    const float angle = 6.2831853071795865f * (static_cast<float>(static_cast<int32_t>(angle_bits[i] >> 8)) * 0x1p-24f);
    const float radius = std::sqrt(-2.0f * vmath::log(u));
    a[i] = radius * vmath::sin_quarter(angle, 1);
    b[i] = radius * vmath::sin_quarter(angle, 0);
  }
}

struct Normal {
  using Value = float;
  static constexpr int64_t kPerBlock = 4;
  RandomKey key;
  void draw(uint64_t first_block, float* out) const {
    uint32_t rows[4][kBlocks];
    float values[4][kBlocks];
    philox_rows(key, first_block, rows);
    box_muller_rows(rows[0], rows[1], values[0], values[1]);
    box_muller_rows(rows[2], rows[3], values[2], values[3]);
    interleave(values, out);
  }
};

// Two elements from each Philox block: pair(block).
template <class F> struct Pairs {
  using Value = typename std::invoke_result_t<F, uint64_t>::value_type;
  static constexpr int64_t kPerBlock = 2;
  F pair;
  void draw(uint64_t first_block, Value* out) const {
    for (int64_t i = 0; i < kLoopBlock / 2; ++i) {
      const auto two = pair(first_block + static_cast<uint64_t>(i));
      out[2 * i] = two[0];
      out[2 * i + 1] = two[1];
    }
  }
};
template <class F> Pairs(F) -> Pairs<F>;

template <class T> T* at(char* base, int64_t bytes) { return reinterpret_cast<T*>(base + bytes); }

// Uses of the numbers: called with operands {index, out, ...}, `count` of them along the first step.
template <class T> struct Store {
  void operator()(char* const* p, const int64_t* step, const auto* values, int64_t count) const {
    if (step[1] == sizeof(T)) {
      T* out = at<T>(p[1], 0);
      for (int64_t i = 0; i < count; ++i) out[i] = convert<T>(values[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) *at<T>(p[1], i * step[1]) = convert<T>(values[i]);
    }
  }
};

/// Output element i, at p[1], becomes f(element i of the input at p[2], bits[i]).
template <class T, class From, class F>
[[gnu::always_inline]] inline void map_drawn(char* const* p, const int64_t* step, const uint32_t* bits, int64_t count,
                                             const F& f) {
  if (step[1] == sizeof(T) && step[2] == sizeof(From)) {
    T* out = at<T>(p[1], 0);
    const From* x = at<From>(p[2], 0);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = f(x[i], bits[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) *at<T>(p[1], i * step[1]) = f(*at<From>(p[2], i * step[2]), bits[i]);
  }
}

template <class T> struct Drop {
  uint64_t threshold;  // numbers below it drop their element
  Compute<T> scale;
  T apply(T x, uint32_t bits) const {
    const Compute<T> kept = static_cast<Compute<T>>(x) * scale;
    return bits >= threshold ? kept : Compute<T>(0);
  }
  void operator()(char* const* p, const int64_t* step, const uint32_t* bits, int64_t count) const {
    map_drawn<T, T>(p, step, bits, count, [this](T x, uint32_t word) { return apply(x, word); });
  }
};

// The value next to x, above or below in magnitude, by `bits`: the distance to the lower one, in parts of the gap, is
// the probability of the upper one. What is exact, infinite or NaN is rounded as usual.
BFloat16 round_at_random(float x, uint32_t bits, BFloat16) {
  const uint32_t word = std::bit_cast<uint32_t>(x);
  const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
  BFloat16 out;
  out.bits = static_cast<uint16_t>(nan ? (word >> 16) | 0x40u : (word + (bits >> 16)) >> 16);
  return out;
}

Float16 round_at_random(float x, uint32_t bits, Float16) {
  const uint32_t word = std::bit_cast<uint32_t>(x), magnitude = word & 0x7fffffffu;
  if (magnitude >= 0x477ff000u) return Float16(x);  // NaN, infinity, or rounds to it
  if (magnitude >= 0x38800000u) return Float16(std::bit_cast<float>((word + (bits >> 19)) & ~0x1fffu));
  // Subnormal: whole multiples of 2^-24, whose number is the encoding.
  const float multiples = std::bit_cast<float>(magnitude) * 0x1p24f, whole = std::floor(multiples);
  const bool up = to_uniform(bits) < multiples - whole;
  Float16 out;
  out.bits = static_cast<uint16_t>((word >> 16 & 0x8000u) | (static_cast<uint32_t>(whole) + (up ? 1u : 0u)));
  return out;
}

template <class T, class From> struct RoundAtRandom {
  static T round(From x, uint32_t bits) { return round_at_random(static_cast<float>(x), bits, T()); }
  void operator()(char* const* p, const int64_t* step, const uint32_t* bits, int64_t count) const {
    map_drawn<T, From>(p, step, bits, count, [](From x, uint32_t word) { return round(x, word); });
  }
};

// The index is one more operand: bytes with row-major strides, whose distance from `origin` is the index itself. As the
// first operand it also orders the loop, so that numbers are drawn in sequence.
char origin;

template <class Source, class Use> struct Draw {
  const Source& source;
  const Use& use;

  void row(char** p, const int64_t* step, int64_t columns) const {
    constexpr int64_t kPer = Source::kPerBlock;
    typename Source::Value values[kLoopBlock];
    while (columns > 0) {
      const int64_t index = p[0] - &origin, lead = index % kPer;
      const int64_t count = std::min(columns, kLoopBlock - lead);
      source.draw(static_cast<uint64_t>(index / kPer), values);
      use(p, step, values + lead, count);
      for (int k = 0; k < 3; ++k) p[k] += count * step[k];
      columns -= count;
    }
  }

  static void rows(const void* context, char* const* pointers, const int64_t* step, const int64_t* row_step,
                   int64_t columns, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
      char* p[3];
      for (int k = 0; k < 3; ++k) p[k] = pointers[k] + row * row_step[k];
      static_cast<const Draw*>(context)->row(p, step, columns);
    }
  }

  /// The elements have numbers `skip`, skip + 1, ... of the source.
  void run(const Operand& out, const Operand& x, int64_t skip = 0) const {
    const View index = View::contiguous(out.shape());
    const Operand operands[] = {{&origin + skip, &index, DType::u8}, out, x};
    strided_loop(operands, 3, kMathGrain, &rows, this);
  }
};

template <class T, class Source> void fill_from(const Source& source, const Operand& out) {
  const Store<T> store;
  Draw<Source, Store<T>>{source, store}.run(out, out);
}

void uniform(RandomKey key, const Operand& out) {
  switch (out.dtype) {
    case DType::f32: return fill_from<float>(Uniform<24>{key}, out);
    case DType::bf16: return fill_from<BFloat16>(Uniform<8>{key}, out);
    case DType::f16: return fill_from<Float16>(Uniform<11>{key}, out);
    case DType::f64: return fill_from<double>(Pairs{[key](uint64_t i) { return uniform_block_f64(key, i); }}, out);
    default: refuse(out.dtype);
  }
}

// bf16 and f16 are rounded from f32, which is computed with weft's functions; f64 is computed with the C library's.
void normal(RandomKey key, const Operand& out) {
  if (out.dtype == DType::f64)
    return fill_from<double>(Pairs{[key](uint64_t i) { return normal_block_f64(key, i); }}, out);
  visit_floating(out.dtype, [&]<class T>() { fill_from<T>(Normal{key}, out); });
}

// In [low, high), converted to the dtype of `out`.
void randint(RandomKey key, int64_t low, int64_t high, const Operand& out) {
  const uint64_t first = static_cast<uint64_t>(low), range = static_cast<uint64_t>(high) - first;
  visit_dtype(out.dtype, [&]<class T>() {
    const Integers numbers{key, first, range};
    if constexpr (std::is_floating_point_v<Compute<T>>)
      if (const BoundedIntegers inside = bounded<T>(numbers, low, high); inside.least > low || inside.most < high - 1)
        return fill_from<T>(inside, out);
    fill_from<T>(numbers, out);
  });
}

// Fisher and Yates.
void randperm(RandomKey key, const Operand& out) {
  int64_t* data = out.data<int64_t>();
  const int64_t count = out.numel(), stride = out.stride(0);
  uint64_t bits[kLoopBlock];
  for (int64_t i = 0; i < count; ++i) {  // after step i, 0 .. i is a random permutation
    if (i % kLoopBlock == 0) WideBits{key}.draw(static_cast<uint64_t>(i / WideBits::kPerBlock), bits);
    const int64_t j = static_cast<int64_t>(scale(bits[i % kLoopBlock], static_cast<uint64_t>(i) + 1));
    data[i * stride] = data[j * stride];
    data[j * stride] = i;
  }
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::RandomFill::cpu(const Operand& out) const {
  const RandomKey key{seed, offset};
  switch (distribution) {
    case Distribution::uniform: return uniform(key, out);
    case Distribution::normal: return normal(key, out);
    case Distribution::integers: return randint(key, low, high, out);
    case Distribution::permutation: return randperm(key, out);
  }
}

void op::Dropout::cpu(const Operand& x, const Operand& out) const {
  if (p >= 1) return fill(out, 0);
  visit_floating(out.dtype, [&]<class T>() {
    const Drop<T> drop{static_cast<uint64_t>(std::nearbyint(p * 0x1p32)), static_cast<Compute<T>>(1 / (1 - p))};
    const Bits bits{{seed, offset & ~(uint64_t{3} << kSkipBit)}};
    Draw<Bits, Drop<T>>{bits, drop}.run(out, x, static_cast<int64_t>(offset >> kSkipBit & 3));
  });
}

void op::StochasticCast::cpu(const Operand& x, const Operand& out) const {
  const Bits bits{{seed, offset}};
  const auto run = [&]<class T>() {
    visit_floating(x.dtype, [&]<class From>() {
      const RoundAtRandom<T, From> use;
      Draw<Bits, RoundAtRandom<T, From>>{bits, use}.run(out, x);
    });
  };
  out.dtype == DType::bf16 ? run.template operator()<BFloat16>() : run.template operator()<Float16>();
}

}  // namespace weft
