#include "tensor/kernels/cpu/pointwise/copy.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/interleave.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/ops/copy.h"

namespace weft::kernels::cpu {
namespace {

/// Bytes in registers, the widest there are.
template <int kBytes> struct Piece {
  static constexpr int kPart = kBytes < simd::kVectorBytes ? kBytes : simd::kVectorBytes;
  simd::Vec<char, kPart> parts[kBytes / kPart];
  WEFT_SIMD explicit Piece(const char* from) {
    for (int i = 0; i < kBytes / kPart; ++i) parts[i] = simd::load<char, kPart>(from + i * kPart);
  }
  WEFT_SIMD void put(char* to) const {
    for (int i = 0; i < kBytes / kPart; ++i) simd::store<char, kPart>(to + i * kPart, parts[i]);
  }
};

/// Rows of kBytes to 2 kBytes, as two pieces that may overlap: a call of memcpy takes longer than the copy.
template <int kBytes>
void copy_in_pieces(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t bytes, int64_t rows) {
  const int64_t second = bytes - kBytes;
  if (second == 0) {
    for (int64_t row = 0; row < rows; ++row, to += to_step, from += from_step) Piece<kBytes>(from).put(to);
    return;
  }
  for (int64_t row = 0; row < rows; ++row, to += to_step, from += from_step) {
    const Piece<kBytes> first(from), last(from + second);
    first.put(to);
    last.put(to + second);
  }
}

/// `rows` dense rows of `bytes` that begin the given steps apart.
void copy_rows(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t bytes, int64_t rows) {
  if (bytes <= 128 && rows > 1) {
    if (bytes >= 64) return copy_in_pieces<64>(to, to_step, from, from_step, bytes, rows);
    if (bytes >= 32) return copy_in_pieces<32>(to, to_step, from, from_step, bytes, rows);
    if (bytes >= 16) return copy_in_pieces<16>(to, to_step, from, from_step, bytes, rows);
    if (bytes >= 8) return copy_in_pieces<8>(to, to_step, from, from_step, bytes, rows);
    if (bytes >= 4) return copy_in_pieces<4>(to, to_step, from, from_step, bytes, rows);
    if (bytes >= 2) return copy_in_pieces<2>(to, to_step, from, from_step, bytes, rows);
  }
  for (int64_t row = 0; row < rows; ++row) copy_bytes(from + row * from_step, to + row * to_step, bytes);
}

/// Dense rows of few elements that lie in the opposite order, or whose elements do. False: they do not.
template <class T>
bool move_mirrored(T* to, const T* from, int64_t from_step, int64_t from_row, int64_t columns, int64_t rows) {
  const bool in_rows = from_step == -1 && from_row == columns;
  if ((!in_rows && !(from_step == 1 && from_row == -columns)) || !simd::mirrors_rows<T>(columns)) return false;
  in_rows ? simd::mirror_in_rows(from - (columns - 1), to, columns, rows) : simd::mirror_rows(from, to, columns, rows);
  return true;
}

// Moves elements of one size.
template <class T>
void move_rows(const void*, char* const* p, const int64_t* step, const int64_t* row_step, int64_t columns,
               int64_t rows) {
  constexpr int64_t size = sizeof(T);
  const int64_t to_step = step[0] / size, from_step = step[1] / size;
  if (to_step == 1 && from_step != 1 && from_step != 0 && row_step[1] == size && rows > 1)
    return simd::transpose_copy(reinterpret_cast<const T*>(p[1]), from_step, reinterpret_cast<T*>(p[0]),
                                row_step[0] / size, columns, rows);
  // The same from the last row on; it pays where many elements share a register.
  if (size < 4 && to_step == 1 && from_step != 1 && row_step[1] == -size && rows > 1)
    return simd::transpose_copy(reinterpret_cast<const T*>(p[1]) - (rows - 1), from_step,
                                reinterpret_cast<T*>(p[0] + (rows - 1) * row_step[0]), -row_step[0] / size, columns,
                                rows);
  if (to_step == 1 && row_step[0] == columns * size && row_step[1] % size == 0 && rows > 1 &&
      move_mirrored(reinterpret_cast<T*>(p[0]), reinterpret_cast<const T*>(p[1]), from_step, row_step[1] / size,
                    columns, rows))
    return;
  if (to_step == 1 && from_step == 1) return copy_rows(p[0], row_step[0], p[1], row_step[1], columns * size, rows);
  for (int64_t row = 0; row < rows; ++row) {
    T* to = reinterpret_cast<T*>(p[0] + row * row_step[0]);
    const T* from = reinterpret_cast<const T*>(p[1] + row * row_step[1]);
    if (to_step == 1 && from_step == 0) {
      std::fill_n(to, columns, *from);
    } else if (to_step == 1) {
      if (from_step == -1)  // of its own: g++ vectorizes it for short rows too
        for (int64_t i = 0; i < columns; ++i) to[i] = from[-i];
      else
        gather_elements<T>(from, step[1], to, columns);
    } else {
      for (int64_t i = 0; i < columns; ++i) to[i * to_step] = from[i * from_step];
    }
  }
}

void move(const Operand& from, const Operand& to) {
  if (from.view->is_contiguous() && to.view->is_contiguous()) {
    char* target = to.first();
    const char* source = from.first();
    const int64_t bytes = to.numel() * static_cast<int64_t>(size_of(to.dtype));
    return parallel_for(bytes, 4 * kCheapGrain,
                        [&](int64_t begin, int64_t end) { copy_bytes(source + begin, target + begin, end - begin); });
  }
  const Operand operands[] = {to, from};
  visit_size(to.dtype, [&]<class T>() { strided_loop(operands, 2, kCheapGrain, &move_rows<T>, nullptr); });
}

/// A register of floats as i32, by the rules of convert<To>().
template <class To, class V> WEFT_SIMD auto truncated(V v) {
  using C = std::remove_cvref_t<decltype(v[0])>;
  using Limits = std::numeric_limits<To>;
  v = v == v ? v : V{};
  v = simd::smaller(simd::splat<C>(Limits::max()), simd::larger(simd::splat<C>(Limits::min()), v));
  return simd::convert_lanes<int32_t, simd::kLanes<C>>(v);
}

#if !defined(__AVX512DQ__)
template <class From, class To>
inline constexpr bool is_float_and_i64 = (std::is_floating_point_v<From> && std::is_same_v<To, int64_t>) ||
                                         (std::is_same_v<From, int64_t> && std::is_floating_point_v<To>);
#endif

template <class To> struct Conversion {
  template <class From> auto operator()(From x) const { return convert<To>(x); }
  /// Floats to integers of 32 bits at most, whose limits they hold: g++ 12 makes many halves of registers of that.
  template <std::floating_point C>
    requires(std::is_integral_v<To> && !std::is_same_v<To, bool> && sizeof(To) <= sizeof(int32_t) &&
             std::numeric_limits<To>::digits <= std::numeric_limits<C>::digits)
  void run(int64_t count, To* out, const C* in) const {
    constexpr int N = simd::kLanes<float>, kHalf = N / 2;
    int64_t i = 0;
    for (; i + N <= count; i += N) {
      simd::prefetch(in + i);
      if constexpr (sizeof(C) == 4) {
        simd::store<int32_t, N>(out + i, truncated<To>(simd::load<C>(in + i)));
      } else {
        const auto low = truncated<To>(simd::load<C>(in + i)), high = truncated<To>(simd::load<C>(in + i + kHalf));
        simd::store<int32_t, N>(out + i, simd::join<int32_t, kHalf>(low, high));
      }
    }
    for (; i < count; ++i) out[i] = convert<To>(in[i]);
  }
#if !defined(__AVX512DQ__)
  /// Between floats and i64, for which CPUs without AVX-512 have no vector instruction: where 1.5 x 2^52 is added, the
  /// whole number is in the lower bits.
  template <class From>
    requires is_float_and_i64<From, To>
  bool slow_case(From x) const {
    if constexpr (std::is_floating_point_v<From>)
      return !(std::fabs(x) < From(0x1p51));
    else
      return (static_cast<uint64_t>(x) + (uint64_t{1} << 51)) >> 52 != 0;
  }
  template <class From>
    requires is_float_and_i64<From, To> To slow(From x)
  const { return convert<To>(x); }
  template <class From>
  requires is_float_and_i64<From, To> To operator()(From x) const {
    constexpr double kShift = 0x1.8p52;
    constexpr auto kBits = std::bit_cast<int64_t>(kShift);
    if constexpr (std::is_floating_point_v<From>)
      return std::bit_cast<int64_t>(std::trunc(static_cast<double>(x)) + kShift) - kBits;
    else
      return static_cast<To>(std::bit_cast<double>(wrapping_add(x, kBits)) - kShift);
  }
#endif
};

/// Rows between a half and float, with no block in between where they are dense.
template <class From, class To>
void convert_rows(const void*, char* const* p, const int64_t* step, const int64_t* row_step, int64_t columns,
                  int64_t rows) {
  const int64_t to_step = step[0] / static_cast<int64_t>(sizeof(To));
  const int64_t from_step = step[1] / static_cast<int64_t>(sizeof(From));
  const bool dense = to_step == 1 && (from_step == 0 || from_step == 1);
  if (!dense && columns >= kFewElements) {
    const Conversion<Compute<To>> conversion{};
    const auto computation = detail::Computation<To, From>::of(conversion);
    return detail::loop_rows<To, From>(&computation, p, step, row_step, columns, rows);
  }
  for (int64_t row = 0; row < rows; ++row) {
    To* to = reinterpret_cast<To*>(p[0] + row * row_step[0]);
    const From* from = reinterpret_cast<const From*>(p[1] + row * row_step[1]);
    if (to_step == 1 && from_step == 0)
      std::fill_n(to, columns, convert<To>(*from));
    else if (!dense)
      for (int64_t i = 0; i < columns; ++i) to[i * to_step] = convert<To>(from[i * from_step]);
    else if constexpr (is_half<From>)
      widen(from, to, columns);
    else
      narrow(from, to, columns);
  }
}
template <class From, class To>
inline constexpr bool is_half_and_float = (is_half<From> && std::is_same_v<To, float>) ||
                                          (std::is_same_v<From, float> && is_half<To>);

void cast(const Operand& from, const Operand& to) {
  visit_dtype(to.dtype, [&]<class To>() {
    visit_dtype(from.dtype, [&]<class From>() {
      if constexpr (is_half_and_float<From, To>) {
        const Operand operands[] = {to, from};
        strided_loop(operands, 2, kCheapGrain, &convert_rows<From, To>, nullptr, 2);
      } else if constexpr (!std::is_same_v<From, To>)
        elementwise<To, From>(kCheapGrain, Conversion<Compute<To>>{}, to, from);
    });
  });
}

// Zeros around the box where the mask holds, axis by axis, then the box.
void copy_masked(const Operand& from, const Operand& to) {
  const View::Mask& mask = *from.view->mask();
  std::vector<Interval> box;
  for (const int64_t size : to.shape()) box.push_back({0, size});
  const auto clear = [&](size_t axis, Interval part) {
    if (part.begin >= part.end) return;
    std::vector<Interval> slab = box;
    slab[axis] = part;
    const View view = to.view->shrink(slab);
    fill(to.with(view), 0);
  };
  int64_t offset = from.view->offset();
  for (size_t axis = 0; axis < mask.size(); ++axis) {
    clear(axis, {0, mask[axis].begin});
    clear(axis, {mask[axis].end, box[axis].end});
    box[axis] = mask[axis];
    offset += mask[axis].begin * from.strides()[axis];
  }
  const View target = to.view->shrink(box);
  const View source = View::create(target.shape(), from.strides(), target.numel() == 0 ? 0 : offset);
  copy(from.with(source), to.with(target));
}

}  // namespace

void copy(const Operand& from, const Operand& to) {
  if (to.numel() == 0) return;
  if (from.view->has_mask()) return copy_masked(from, to);
  from.dtype == to.dtype ? move(from, to) : cast(from, to);
}

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Contiguous::cpu(const Operand& x, const Operand& out) const { copy(x, out); }
void op::Clone::cpu(const Operand& x, const Operand& out) const { copy(x, out); }
void op::Cast::cpu(const Operand& x, const Operand& out) const { copy(x, out); }
void op::ToDevice::cpu(const Operand& x, const Operand& out) const { copy(x, out); }
void op::Lift::cpu(const Operand& x, const Operand& out) const { copy(x, out); }
void op::Fill::cpu(const Operand&, const Operand& out) const { fill(out, value); }
void op::CopyFrom::cpu(const Operand&, const Operand& source, const Operand& out) const { copy(source, out); }
void op::AddInto::cpu(const Operand& buffer, const Operand& x) const { add_into(x, buffer); }

void op::ViewAdjoint::cpu(const Operand& g, const Operand& out) const {
  const auto write = [&](const Operand& whole) {
    fill(whole, 0);
    const View part = part_of(whole.layout());
    if (!part.has_mask()) return add_into(g, whole.with(part));
    // What lies in the padding came from nowhere: only the gradient inside of the mask has a place.
    const View inside = part.shrink(*part.mask()), from = g.layout().shrink(*part.mask());
    add_into(g.with(from), whole.with(inside));
  };
  if (!is_half_precision(out.dtype) || !part_of(out.layout()).overlaps_itself()) return write(out);
  // An element that many windows share has a sum that 16 bits would end early.
  const Scratch<float> sums(out.numel());
  const View dense = View::contiguous(out.shape());
  const Operand wide{sums.data(), &dense, DType::f32};
  write(wide);
  copy(wide, out);
}

}  // namespace weft
