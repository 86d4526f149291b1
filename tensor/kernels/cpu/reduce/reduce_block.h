// One block of a reduction: rows folded to a value, or columns folded to a row, with vectors.
//
// An Op says what is folded:
//   Load     what elements are read as
//   Pre      what `map` makes of them; up to 8 registers are combined in it as a tree (rows) or one by one (columns)
//   Acc      what the results of those groups are combined in (double for floating sums: error of a few 2^-25)
//   map(v, p), combine(a, b), identity<T>()
// `p` is a parameter per output, e.g. the mean that is subtracted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/reduce/reduce_plan.h"

namespace weft::kernels::cpu {

/// Most elements of a row of a block that is folded by rows, and by columns.
inline constexpr int64_t kRowBlock = 8192;
inline constexpr int64_t kColumnTile = 1024;

/// `rows` rows of `length` elements; row i lies at the nest's position first + i.
template <class T> struct Block {
  const T* base;
  const Nest* nest;
  int64_t first;
  int64_t rows;
  int64_t length;
  int64_t stride;  // between the elements of a row
};

/// Registers from memory and back, one at a time: g++ moves an array of them in pieces of 16 bytes
/// (tools/flags.bazelrc), which the loads that follow wait for.
template <class T, int kCount> WEFT_SIMD void load_registers(simd::Vec<T> (&to)[kCount], const T* from) {
  for (int k = 0; k < kCount; ++k) to[k] = simd::load<T>(from + k * simd::kLanes<T>);
}
template <class T, int kCount> WEFT_SIMD void store_registers(T* to, const simd::Vec<T> (&from)[kCount]) {
  for (int k = 0; k < kCount; ++k) simd::store<T>(to + k * simd::kLanes<T>, from[k]);
}

namespace detail {

/// Memory for rows whose elements are not contiguous: they are copied here, so that folds are compiled for dense rows
/// only.
template <class T, int64_t kCount> class DenseRows {
 public:
  [[gnu::noinline]] const T* copy(const T* row, int64_t stride, int64_t count, int64_t position = 0) {
    constexpr int64_t kSize = sizeof(T);
    std::byte* to = room_ + position * kSize;
    gather_elements<T>(row, stride * kSize, to, count);
    return reinterpret_cast<const T*>(to);
  }

 private:
  alignas(64) std::byte room_[kCount * sizeof(T)];
};

template <class Op> struct BlockTypes {
  using Load = typename Op::Load;
  using Pre = typename Op::Pre;
  using Acc = typename Op::Acc;
  static_assert(sizeof(Load) == sizeof(Pre));
  static constexpr int kWidth = simd::kLanes<Pre>;
  static constexpr int kAccWidth = simd::kLanes<Acc>;
  static constexpr int kParts = kWidth / kAccWidth;
  using PreVec = simd::Vec<Pre>;
  using AccVec = simd::Vec<Acc>;
};

/// Whether to prefetch. The hardware prefetchers of Zen 3 and 4 cross page borders; there a software prefetch only
/// takes a load slot, which costs a tenth of a sum from memory and a fifth of one from the cache.
#ifdef __znver3__
inline constexpr bool kPrefetches = false;
#else
inline constexpr bool kPrefetches = true;
#endif

/// acc[k] with part k of `v` combined into it.
template <class Op, int Part = 0>
WEFT_SIMD void accumulate(typename BlockTypes<Op>::AccVec* acc, typename BlockTypes<Op>::PreVec v) {
  using B = BlockTypes<Op>;
  if constexpr (Part < B::kParts) {
    const auto part = simd::lanes<Part * B::kAccWidth, B::kAccWidth>(v);
    acc[Part] = Op::combine(acc[Part], simd::convert_lanes<typename B::Acc, B::kAccWidth>(part));
    accumulate<Op, Part + 1>(acc, v);
  }
}

template <class Op, class T>
inline typename BlockTypes<Op>::PreVec mapped(const T* p, typename BlockTypes<Op>::PreVec parameter) {
  return Op::map(simd::load<typename Op::Load>(p), parameter);
}

template <class Op, class T>
inline typename BlockTypes<Op>::PreVec mapped_part(const T* p, typename BlockTypes<Op>::PreVec parameter, int count) {
  using Pre = typename Op::Pre;
  const auto v = Op::map(simd::load_part<typename Op::Load>(p, count), parameter);
  return simd::first_lanes<Pre>(v, simd::splat<Pre>(Op::template identity<Pre>()), count);
}

/// Elements [i, length) of a row, which do not fill a register. If the row does, they are the last lanes of the one
/// that ends with it (AVX2 has no masked loads of 8 and 16 bits).
template <class Op, class T>
inline typename BlockTypes<Op>::PreVec mapped_end(const T* row, int64_t i, int64_t length,
                                                  typename BlockTypes<Op>::PreVec parameter) {
  using Pre = typename Op::Pre;
  constexpr int kWidth = BlockTypes<Op>::kWidth;
  const int count = static_cast<int>(length - i);
  if (length < kWidth) return mapped_part<Op>(row + i, parameter, count);
  const auto v = mapped<Op>(row + length - kWidth, parameter);
  return simd::first_lanes<Pre>(simd::splat<Pre>(Op::template identity<Pre>()), v, kWidth - count);
}

/// at(0) to at(kCount - 1), combined as a tree. No array of them: what is computed in a loop over one goes through
/// memory.
template <class Op, int kCount, int kFirst = 0, int kStep = 1, class At>
WEFT_SIMD typename BlockTypes<Op>::PreVec combined(const At& at) {
  if constexpr (kStep == kCount)
    return at(kFirst);
  else
    return Op::combine(combined<Op, kCount, kFirst, 2 * kStep>(at),
                       combined<Op, kCount, kFirst + kStep, 2 * kStep>(at));
}

/// combined(), whose at(k) is repeated in a loop where the map of Op is long (kLongMap): one that is unrolled would be
/// most of what is compiled, and gain nothing.
template <class Op, int kCount, class At> WEFT_SIMD typename BlockTypes<Op>::PreVec combined_maps(const At& at) {
  if constexpr (kCount > 1 && requires { Op::kLongMap; }) {
    constexpr int kHalf = kCount / 2;
    typename BlockTypes<Op>::PreVec pairs[kHalf];
#pragma GCC unroll 1
    for (int k = 0; k < kHalf; ++k) pairs[k] = Op::combine(at(k), at(k + kHalf));
    return combined<Op, kHalf>([&](int k) { return pairs[k]; });
  } else {
    return combined<Op, kCount>(at);
  }
}

/// f(rows, count, ahead) for eight rows of the block at a time, then for four, then for each of those that are left:
/// their first elements, how many as a constant, and how many bytes further those lie that are read next: rows, and
/// after the last the columns of the next block.
template <class T, class F> void for_row_groups(const Block<T>& block, const F& f) {
  constexpr int64_t kTaken = 64;  // rows whose positions are found at once, a multiple of eight
  NestWalk walk(*block.nest, block.first);
  const int64_t start = walk.in();
  int64_t in[kTaken + 1];  // and the one that is read next
  for (int64_t taken = 0; taken < block.rows; taken += kTaken) {
    const int64_t count = std::min(kTaken, block.rows - taken);
    walk.take(count, in);
    in[count] = taken + count < block.rows ? walk.in() : start + block.length;
    int64_t row = 0;
    const auto groups_of = [&]<int kRows>(std::integral_constant<int, kRows> size) {
      for (; row + kRows <= count; row += kRows) {
        const T* rows[kRows];
        for (int k = 0; k < kRows; ++k) rows[k] = block.base + in[row + k];
        f(rows, size, (in[row + kRows] - in[row]) * static_cast<int64_t>(sizeof(T)));
      }
    };
    groups_of(std::integral_constant<int, 8>{});
    groups_of(std::integral_constant<int, 4>{});
    groups_of(std::integral_constant<int, 1>{});
  }
}

/// acc[0, kWidth) with `v` combined into it.
template <class Op> WEFT_SIMD void accumulate_into(typename Op::Acc* acc, typename BlockTypes<Op>::PreVec v) {
  typename BlockTypes<Op>::AccVec sums[BlockTypes<Op>::kParts];
  load_registers<typename Op::Acc>(sums, acc);
  accumulate<Op>(sums, v);
  store_registers<typename Op::Acc>(acc, sums);
}

/// fold_row_group() of rows of bytes that do not fill a register: one copy for all counts, in loops, as the code of a
/// partial load, which is long, would be repeated for each row.
template <class Op, class T>
WEFT_ONE_COPY void fold_narrow_rows(const T* const* rows, int count, int length, typename Op::Pre parameter_value,
                                    const typename Op::Pre* parameters, typename Op::Acc* acc) {
  using Pre = typename Op::Pre;
  const auto parameter =
      parameters != nullptr ? simd::load_part<Pre>(parameters, length) : simd::splat(parameter_value);
  typename BlockTypes<Op>::PreVec folded[8];
#pragma GCC unroll 1
  for (int k = 0; k < count; ++k) folded[k] = mapped_part<Op>(rows[k], parameter, length);
#pragma GCC unroll 1
  for (int half = count / 2; half > 0; half /= 2)  // the tree of combined()
#pragma GCC unroll 1
    for (int k = 0; k < half; ++k) folded[k] = Op::combine(folded[k], folded[k + half]);
  accumulate_into<Op>(acc, folded[0]);
}

/// v, rounded: a product in it is not added in one instruction.
template <class V> WEFT_SIMD V rounded(V v) {
  asm("" : "+v"(v));
  return v;
}

/// Combines kRows rows into acc[0, length); acc has room for whole registers. What is read next lies `ahead` bytes on.
/// The last columns, which do not fill a register, are the last lanes of the one that ends with the row, as in
/// mapped_end(). acc then has them at the end of its last register, and end_of_row() moves them to their places.
template <class Op, int kRows, class T>
void fold_row_group(const T* const* rows, [[maybe_unused]] int64_t ahead, int64_t length,
                    typename Op::Pre parameter_value, const typename Op::Pre* parameters, typename Op::Acc* acc) {
  using Pre = typename Op::Pre;
  constexpr int kWidth = BlockTypes<Op>::kWidth;
  if (length < kWidth) {
    const int count = static_cast<int>(length);
    if constexpr (sizeof(T) == 1) return fold_narrow_rows<Op>(rows, kRows, count, parameter_value, parameters, acc);
    const auto parameter =
        parameters != nullptr ? simd::load_part<Pre>(parameters, count) : simd::splat(parameter_value);
    return accumulate_into<Op>(
        acc, combined_maps<Op, kRows>([&](int k) { return mapped_part<Op>(rows[k], parameter, count); }));
  }
  for (int64_t j = 0; j < length; j += kWidth) {
    const int64_t at = std::min(j, length - kWidth);
    const auto parameter = parameters != nullptr ? simd::load<Pre>(parameters + at) : simd::splat(parameter_value);
    if constexpr (kRows > 1 && kPrefetches)
      for (int k = 0; k < kRows; ++k) simd::prefetch(rows[k] + at, ahead);
    auto folded = combined_maps<Op, kRows>([&](int k) { return mapped<Op>(rows[k] + at, parameter); });
    if constexpr (kRows == 1) folded = rounded(folded);  // as parts of registers are, by a selection
    accumulate_into<Op>(acc + j, folded);
  }
}

/// Moves the columns of the last register, which fold_row_group() left at its end, to their places.
template <int kWidth, class Acc> void end_of_row(int64_t length, Acc* acc) {
  const int64_t rest = length % kWidth, whole = length - rest;
  if (whole > 0 && rest > 0) std::copy_n(acc + whole + kWidth - rest, rest, acc + whole);
}

/// Most rows of a block of short columns that lie along memory.
inline constexpr int64_t kShort = 64;

/// to[j * to_step + i] = from[i * from_step + j] for i < columns, j < rows, elements of `size` bytes; writes whole
/// registers.
void turn(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t columns, int64_t rows, size_t size);

/// A dense row combined into the registers `acc`.
template <class Op, class T>
WEFT_SIMD void fold_row(const T* p, int64_t length, typename BlockTypes<Op>::PreVec parameter,
                        typename BlockTypes<Op>::AccVec (&acc)[BlockTypes<Op>::kParts]) {
  using B = BlockTypes<Op>;
  constexpr int kWidth = B::kWidth;
  int64_t i = 0;
  for (; i + 8 * kWidth <= length; i += 8 * kWidth) {
    if constexpr (kPrefetches)
      for (int k = 0; k < 8; ++k) simd::prefetch(p + i + k * kWidth);
    accumulate<Op>(acc, combined_maps<Op, 8>([&](int k) { return mapped<Op>(p + i + k * kWidth, parameter); }));
  }
  if (i == length) return;
  const auto empty = simd::splat<typename Op::Pre>(Op::template identity<typename Op::Pre>());
  typename B::PreVec rest[2] = {empty, empty};  // independent: each waits for its own last result
  for (; i + 2 * kWidth <= length; i += 2 * kWidth)
    for (int k = 0; k < 2; ++k) rest[k] = Op::combine(rest[k], mapped<Op>(p + i + k * kWidth, parameter));
  if (i + kWidth <= length) rest[0] = Op::combine(rest[0], mapped<Op>(p + i, parameter)), i += kWidth;
  if (i < length) rest[1] = Op::combine(rest[1], mapped_end<Op>(p, i, length, parameter));
  accumulate<Op>(acc, Op::combine(rest[0], rest[1]));
}

/// Of each block of 2 kHalf lanes of a and then b the kHalf lanes from kFrom on: blocks of both.
template <int kHalf, int kFrom, class V, int... I> WEFT_SIMD V half_blocks(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int kN = sizeof...(I);
  return __builtin_shufflevector(a, b, (I / (2 * kHalf) * (2 * kHalf) + I % kHalf + I / kHalf % 2 * kN + kFrom)...);
}

/// Lane i is fold_lanes(v[i]): halves of two registers at a time are combined in one. Changes v.
template <class Op, class T, int N, int kHalf = N / 2>
WEFT_SIMD simd::Vec<T, N> fold_lanes_of(simd::Vec<T, N> (&v)[N]) {
  if constexpr (kHalf > 0) {
    using Lanes = std::make_integer_sequence<int, N>;
    for (int k = 0; k < kHalf; ++k)
      v[k] = Op::combine(half_blocks<kHalf, 0>(v[k], v[k + kHalf], Lanes{}),
                         half_blocks<kHalf, kHalf>(v[k], v[k + kHalf], Lanes{}));
    return fold_lanes_of<Op, T, N, kHalf / 2>(v);
  } else {
    return v[0];
  }
}

/// All parts as one register.
template <class Op>
WEFT_SIMD typename BlockTypes<Op>::AccVec joined(typename BlockTypes<Op>::AccVec (&acc)[BlockTypes<Op>::kParts]) {
  for (int k = 1; k < BlockTypes<Op>::kParts; ++k) acc[0] = Op::combine(acc[0], acc[k]);
  return acc[0];
}

}  // namespace detail

/// Everything in the block as one value.
template <class Op, class T> typename Op::Acc fold_rows(const Block<T>& block, typename Op::Pre parameter_value = {}) {
  using B = detail::BlockTypes<Op>;
  const auto parameter = simd::splat<typename Op::Pre>(parameter_value);
  typename B::AccVec acc[B::kParts];
  for (auto& a : acc) a = simd::splat<typename Op::Acc>(Op::template identity<typename Op::Acc>());
  detail::DenseRows<T, kRowBlock> dense;
  NestWalk walk(*block.nest, block.first);
  for (int64_t row = 0; row < block.rows; ++row, walk.next()) {
    const T* p = block.base + walk.in();
    if (block.stride != 1) p = dense.copy(p, block.stride, block.length);
    detail::fold_row<Op>(p, block.length, parameter, acc);
  }
  return simd::fold_lanes<Op, typename Op::Acc, B::kAccWidth>(detail::joined<Op>(acc));
}

/// out[i] = the dense row of `length` elements at p + i * between as one value, with the bits of fold_rows().
template <class Op, class T>
void fold_dense_rows(const T* p, int64_t length, int64_t between, int64_t count, typename Op::Pre parameter_value,
                     typename Op::Acc* out) {
  using B = detail::BlockTypes<Op>;
  using Acc = typename Op::Acc;
  constexpr int N = B::kAccWidth;
  const auto parameter = simd::splat<typename Op::Pre>(parameter_value);
  const auto folded = [&](int64_t i) __attribute__((always_inline)) {
    typename B::AccVec acc[B::kParts];
    for (auto& a : acc) a = simd::splat<Acc>(Op::template identity<Acc>());
    detail::fold_row<Op>(p + i * between, length, parameter, acc);
    return detail::joined<Op>(acc);
  };
  int64_t i = 0;
  for (; i + N <= count; i += N) {
    typename B::AccVec rows[N];
    for (int k = 0; k < N; ++k) rows[k] = folded(i + k);
    simd::store<Acc>(out + i, detail::fold_lanes_of<Op, Acc, N>(rows));
  }
  for (; i < count; ++i) out[i] = simd::fold_lanes<Op, Acc, N>(folded(i));
}

template <class Op, class T>
void fold_columns(const Block<T>& block, typename Op::Pre parameter, const typename Op::Pre* parameters,
                  typename Op::Acc* acc);

namespace detail {

/// Columns of several elements that follow each other in memory.
template <class T> bool lies_along_memory(const Block<T>& block) {
  return block.stride != 1 && block.rows > 1 && block.nest->rank == 1 && block.nest->inner().in == 1;
}

/// Short columns that lie along memory, as rows of a few of them transposed.
template <class Op, class T>
void fold_transposed(const Block<T>& block, typename Op::Pre parameter, const typename Op::Pre* parameters,
                     typename Op::Acc* acc) {
  constexpr int64_t kColumns = sizeof(T) == 8 ? 32 : 64;
  alignas(64) T turned[kShort * kColumns];
  Nest nest;
  nest.push({block.rows, kColumns, 0});
  for (int64_t i = 0; i < block.length; i += kColumns) {
    const int64_t columns = std::min(kColumns, block.length - i);
    turn(block.base + block.first + i * block.stride, block.stride, turned, kColumns, columns, block.rows, sizeof(T));
    weft::kernels::cpu::fold_columns<Op>(Block<T>{turned, &nest, 0, block.rows, columns, 1}, parameter,
                                         parameters == nullptr ? nullptr : parameters + i, acc + i);
  }
}

}  // namespace detail

/// acc[j] is column j of all rows as one value; acc has room for one register more than block.length. The parameter is
/// `parameter`, or parameters[j] where that is not null.
template <class Op, class T>
void fold_columns(const Block<T>& block, typename Op::Pre parameter, const typename Op::Pre* parameters,
                  typename Op::Acc* acc) {
  if (block.rows <= detail::kShort && detail::lies_along_memory(block))
    return detail::fold_transposed<Op>(block, parameter, parameters, acc);
  std::fill_n(acc, block.length + detail::BlockTypes<Op>::kWidth, Op::template identity<typename Op::Acc>());
  detail::DenseRows<T, 8 * kColumnTile> dense;
  detail::for_row_groups(block, [&](const T** rows, auto count, int64_t ahead) {
    for (int k = 0; k < count && block.stride != 1; ++k)
      rows[k] = dense.copy(rows[k], block.stride, block.length, k * kColumnTile);
    detail::fold_row_group<Op, count>(rows, ahead, block.length, parameter, parameters, acc);
  });
  detail::end_of_row<detail::BlockTypes<Op>::kWidth>(block.length, acc);
}

}  // namespace weft::kernels::cpu
