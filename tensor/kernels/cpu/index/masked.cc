// Masks: elements filled, selected and scattered, and positions. Elements are visited in row-major order, in blocks.
// The true mask elements of each block are counted first, so that every block knows the position of its first one among
// all, whichever thread works on it.
#include "tensor/ops/masked.h"

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/loops/nest.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kBlock = 16384;

/// Axes of one shape in row-major order: `in` of the mask, `out` of x.
Nest paired(const Operand& mask, const Operand& x) {
  Nest nest;
  for (int64_t i = 0; i < mask.rank(); ++i) nest.push({mask.size(i), mask.stride(i), x.stride(i)});
  nest.merge();
  return nest;
}

/// f(i, in, out, axis, count) for the runs of elements [begin, end) of a nest; a run is elements [i, i + count).
template <class F> void each_run(const Nest& nest, int64_t begin, int64_t end, const F& f) {
  const NestAxis run = nest.run();
  const Nest outer = nest.outer();
  if (begin >= end) return;
  NestWalk walk(outer, begin / run.size);
  for (int64_t i = begin; i < end; walk.next()) {
    const int64_t start = i % run.size, count = std::min(run.size - start, end - i);
    f(i, walk.in() + start * run.in, walk.out() + start * run.out, run, count);
    i += count;
  }
}

#if defined(__AVX2__) && !(defined(__AVX512BW__) && defined(__AVX512VL__))
/// For each byte, the positions of the bits that are set; what follows them is not used.
struct BitPositions {
  alignas(64) uint8_t of[256][8] = {};
  constexpr BitPositions() {
    for (int byte = 0; byte < 256; ++byte)
      for (int bit = 0, found = 0; bit < 8; ++bit)
        if ((byte >> bit & 1) != 0) of[byte][found++] = static_cast<uint8_t>(bit);
  }
};
constexpr BitPositions kBitPositions;
#endif

/// Writes the positions of the true ones among `count` mask elements to `held`, which has room for kListRoom more, and
/// returns their number.
constexpr int64_t kListRoom = 16;
int64_t list_held(const uint8_t* mask, int64_t step, int64_t count, int32_t* held) {
  int64_t found = 0, j = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if (step == 1) {
    const __m512i sixteen = _mm512_set1_epi32(16);
    __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; j + 16 <= count; j += 16, number = _mm512_add_epi32(number, sixteen)) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask + j));
      const __mmask16 holds = _mm_test_epi8_mask(bytes, bytes);
      _mm512_storeu_si512(held + found, _mm512_maskz_compress_epi32(holds, number));
      found += __builtin_popcount(holds);
    }
  }
#elif defined(__AVX2__)
  for (; step == 1 && j + 8 <= count; j += 8) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(mask + j));
    const int holds = ~_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) & 0xff;
    const __m128i places = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBitPositions.of[holds]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(held + found),
                        _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32(static_cast<int>(j))));
    found += __builtin_popcount(static_cast<unsigned>(holds));
  }
#endif
  for (; j < count; ++j) {  // without a branch on the mask: the position of a false element is overwritten by the next
    held[found] = static_cast<int32_t>(j);
    found += mask[j * step] != 0 ? 1 : 0;
  }
  return found;
}

/// The true elements of a mask, block by block; for each block, the number of true elements before it.
class Blocks {
 public:
  Blocks(const Operand& mask, const Nest& nest)
      : mask_(mask.data<uint8_t>()), nest_(nest), numel_(mask.numel()), starts_(ceil_div(numel_, kBlock) + 1) {
    const int64_t blocks = ceil_div(numel_, kBlock);
    int64_t* starts = starts_.data();
    parallel_for(blocks, 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) starts[b + 1] = count(b * kBlock, std::min(numel_, (b + 1) * kBlock));
    });
    starts[0] = 0;
    for (int64_t b = 0; b < blocks; ++b) starts[b + 1] += starts[b];
    total_ = starts[blocks];
  }
  int64_t total() const { return total_; }

  /// f(k, i, out) for the k-th true element: it is element i of the mask, and x's element is at offset `out`.
  template <class F> void each(const F& f) const {
    each_group([&](int64_t k, const Group& group) {
      for (int64_t h = 0; h < group.count; ++h) f(k + h, group.element(h), group.offset(h));
    });
  }

  /// True elements of one run. `held` has their positions from element `first` on, which is at offset `out` of x.
  struct Group {
    const int32_t* held;
    int64_t count, first, out, step;
    int64_t element(int64_t h) const { return first + held[h]; }
    /// Whether they follow each other in the run.
    bool is_dense() const { return held[count - 1] - held[0] + 1 == count; }
    int64_t offset(int64_t h) const { return out + held[h] * step; }
  };
  /// f(k, group) for all groups; the first element of the group is the k-th true element.
  template <class F> void each_group(const F& f) const {
    const int64_t blocks = ceil_div(numel_, kBlock);
    parallel_for(blocks, 2, [&](int64_t begin, int64_t end) {
      int32_t held[kGroup + kListRoom];
      for (int64_t b = begin; b < end; ++b) {
        int64_t k = starts_.data()[b];
        if (k == starts_.data()[b + 1]) continue;
        each_run(nest_, b * kBlock, std::min(numel_, (b + 1) * kBlock),
                 [&](int64_t i, int64_t in, int64_t out, const NestAxis& run, int64_t count) {
                   for (int64_t j = 0; j < count; j += kGroup) {
                     const int64_t found =
                         list_held(mask_ + in + j * run.in, run.in, std::min(kGroup, count - j), held);
                     if (found > 0) f(k, Group{held, found, i + j, out + j * run.out, run.out});
                     k += found;
                   }
                 });
      }
    });
  }

 private:
  static constexpr int64_t kGroup = 256;
  int64_t count(int64_t begin, int64_t end) const {
    int64_t total = 0;
    each_run(nest_, begin, end, [&](int64_t, int64_t in, int64_t, const NestAxis& run, int64_t length) {
      int64_t sum = 0;
      if (run.in == 1)
        sum = count_dense(mask_ + in, length);
      else
        for (int64_t j = 0; j < length; ++j) sum += mask_[in + j * run.in] != 0;
      total += sum;
    });
    return total;
  }
  /// Counts in bytes, in parts that are short enough for them.
  static int64_t count_dense(const uint8_t* mask, int64_t length) {
    constexpr int N = simd::kLanes<uint8_t>;
    constexpr int64_t kPart = 255 * N;
    using Bytes = simd::Vec<uint8_t>;
    int64_t total = 0, j = 0;
    while (j + N <= length) {
      const int64_t end = j + std::min(kPart, (length - j) / N * N);
      Bytes counts{};
      for (; j < end; j += N) counts += simd::load<uint8_t>(mask + j) != 0 ? Bytes{} + 1 : Bytes{};
      for (int i = 0; i < N; ++i) total += counts[i];
    }
    for (; j < length; ++j) total += mask[j] != 0 ? 1 : 0;
    return total;
  }

  const uint8_t* mask_;
  const Nest& nest_;
  int64_t numel_;
  Scratch<int64_t> starts_;
  int64_t total_ = 0;
};

/// Writes rows of the coordinates of true elements, kRank axes (0: any number). Divisions are slow: it divides only
/// where a line ends.
template <int kRank> struct Coordinates {
  const Shape& shape;
  int64_t* to;
  void operator()(int64_t k, const Blocks::Group& group) const {
    const int64_t rank = kRank != 0 ? kRank : std::ssize(shape), last = rank - 1;
    int64_t at[kRank != 0 ? kRank : kMaxAxes] = {}, before = 0;
    const int64_t columns = shape[static_cast<size_t>(last)];
    for (int64_t h = 0; h < group.count; ++h) {
      const int64_t i = group.element(h);
      at[last] += i - before;
      before = i;
      if (at[last] >= columns)
        for (int64_t axis = last; axis > 0; --axis) {
          at[axis - 1] += at[axis] / shape[static_cast<size_t>(axis)];
          at[axis] %= shape[static_cast<size_t>(axis)];
        }
      for (int64_t axis = 0; axis < rank; ++axis) to[(k + h) * rank + axis] = at[axis];
    }
  }
};

void check_count(int64_t found, int64_t expected) {
  if (found != expected) throw Error(text("the mask is true for ", found, " elements, not ", expected));
}

/// Whether the layouts of the mask and x differ so much that dense copies cost less than working in short runs. (Not if
/// one of them is expanded: its copy would be larger.)
bool prefers_dense(const Nest& paired, const Operand& mask, const Operand& x) {
  constexpr int64_t kShort = 64;
  return paired.rank > 1 && paired.inner().size < kShort && !mask.view->overlaps_itself() && !x.view->overlaps_itself();
}

/// The elements of `from` for which the mask is true.
template <class T> void select(const Blocks& blocks, int64_t count, const T* from, T* to) {
  check_count(blocks.total(), count);
  blocks.each_group([&](int64_t k, const Blocks::Group& group) {
    // Copies of what it holds: a byte that is written may be any variable's.
    const int32_t* const held = group.held;
    const int64_t found = group.count, step = group.step;
    const T* const in = from + group.out;
    T* const out = to + k;
    if (step == 1 && group.is_dense())
      std::copy_n(in + *held, found, out);
    else if (step == 1)
      for (int64_t h = 0; h < found; ++h) out[h] = in[held[h]];
    else
      for (int64_t h = 0; h < found; ++h) out[h] = in[held[h] * step];
  });
}

/// Longer rows of a triangle whose elements are not contiguous are copied first, by registers.
constexpr int64_t kFewKept = 17;

/// A row of `columns` elements, of which [first, last) are those of `from` and the others zero: the lower triangle has
/// first = 0, the upper one last = columns. Elements of `from` that are not contiguous are in `to` already if there are
/// more than kFewKept.
template <class T> void keep_between(const T* from, int64_t step, T* to, int64_t first, int64_t last, int64_t columns) {
  constexpr int N = simd::kLanes<T>;
  if (step == 1 && columns <= N) {
    const auto zeros = simd::Vec<T, N>{};
    const auto row = simd::load_part<T, N>(from, static_cast<int>(last));  // what follows is 0
    const auto kept = first == 0 ? row : simd::first_lanes<T, N>(zeros, row, static_cast<int>(first));
    return simd::store_part<T, N>(to, kept, static_cast<int>(columns));
  }
  std::fill_n(to, first, T(0));
  if (step != 1 && columns <= kFewKept)
    for (int64_t j = first; j < last; ++j) to[j] = from[j * step];
  if (step == 1)  // by registers: of a row of some hundred bytes a call takes as long as the copy
    for_lanes<T>(last - first, [from = from + first, to = to + first](int64_t j, auto lanes) {
      put_lanes(to + j, lanes_at(from + j, lanes), lanes);
    });
  std::fill_n(to + last, columns - last, T(0));
}

/// Rows of one matrix. Column c of row r is kept where it is below r + shift (kept_below), or where it is not.
template <class T> struct TriangleRows {
  const T* from;
  int64_t row_step, step;
  T* to;
  int64_t columns, shift;
  bool kept_below;

  void keep(int64_t begin, int64_t end) const {
    // Rows before `partly` have no column below their border, those from `whole` on have nothing else.
    const int64_t partly = std::clamp(1 - shift, begin, end), whole = std::clamp(columns - shift, partly, end);
    alike(begin, partly, !kept_below);
    for (int64_t r = partly; r < whole; ++r) row(r, kept_below ? 0 : r + shift, kept_below ? r + shift : columns);
    alike(whole, end, kept_below);
  }

 private:
  void row(int64_t r, int64_t first, int64_t last) const {
    keep_between(from + r * row_step, step, to + r * columns, first, last, columns);
  }
  /// Rows that are kept or cleared as one run of memory, if they are.
  void alike(int64_t begin, int64_t end, bool kept) const {
    if (begin == end) return;
    if (!kept) {
      std::fill(to + begin * columns, to + end * columns, T(0));
    } else if (step == 1 && row_step == columns) {
      const int64_t count = (end - begin) * columns;
      keep_between(from + begin * columns, step, to + begin * columns, 0, count, count);
    } else {
      for (int64_t r = begin; r < end; ++r) row(r, 0, columns);
    }
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::MaskedFill::cpu(const Operand& x, const Operand& mask, const Operand& out) const {
  visit_dtype(out.dtype, [&]<class T>() {
    using C = Compute<T>;
    const C constant = static_cast<C>(scalar_as<T>(value));
    elementwise<T, T, bool>(
        kCheapGrain, [constant](C old, uint8_t m) { return m != 0 ? constant : old; }, out, x, mask);
  });
}

void op::MaskedSelect::cpu(const Operand& x, const Operand& mask, const Operand& out) const {
  if (mask.numel() == 0) return check_count(0, count);
  const Nest nest = paired(mask, x);
  visit_size(x.dtype, [&]<class T>() {
    T* const to = out.data<T>();
    if (!prefers_dense(nest, mask, x)) return select<T>(Blocks(mask, nest), count, x.data<T>(), to);
    const View dense = View::contiguous(mask.shape());
    const Scratch<uint8_t> seen(mask.numel());
    const Scratch<T> values(x.numel());
    const Operand dense_mask{seen.data(), &dense, mask.dtype}, dense_x{values.data(), &dense, x.dtype};
    copy(mask, dense_mask);
    copy(x, dense_x);
    select<T>(Blocks(dense_mask, paired(dense_mask, dense_x)), count, values.data(), to);
  });
}

void op::MaskedScatter::cpu(const Operand& x, const Operand& mask, const Operand& src, const Operand& out) const {
  const Nest nest = paired(mask, out);
  const Blocks blocks(mask, nest);
  if (blocks.total() > src.numel())
    throw ShapeError(text("the mask is true for ", blocks.total(), " elements, the source has only ", src.numel()));
  if (x.base != out.base) copy(x, out);
  const int64_t step = src.stride(0);
  visit_size(x.dtype, [&]<class T>() {
    const T* from = src.data<T>();
    T* to = out.data<T>();
    blocks.each([&](int64_t k, int64_t, int64_t offset) { to[offset] = from[k * step]; });
  });
}

void op::Nonzero::cpu(const Operand& mask, const Operand& out) const {
  const Nest nest = paired(mask, mask);
  const Blocks blocks(mask, nest);
  check_count(blocks.total(), count);
  int64_t* to = out.data<int64_t>();
  const int64_t rank = mask.rank();
  if (!coordinates || rank == 1)
    return blocks.each_group([to](int64_t k, const Blocks::Group& group) {
      // Local copies, which need not be read again after each write: `to` may refer to any int64_t.
      const int32_t* const held = group.held;
      const int64_t first = group.first, found = group.count;
      for (int64_t h = 0; h < found; ++h) to[k + h] = first + held[h];
    });
  if (rank == 2) return blocks.each_group(Coordinates<2>{mask.shape(), to});
  if (rank == 3) return blocks.each_group(Coordinates<3>{mask.shape(), to});
  if (rank == 4) return blocks.each_group(Coordinates<4>{mask.shape(), to});
  if (rank > 0) blocks.each_group(Coordinates<0>{mask.shape(), to});
}

void op::Triangle::cpu(const Operand& x, const Operand& out) const {
  const int64_t rows = x.size(x.rank() - 2), columns = x.size(x.rank() - 1);
  if (out.numel() == 0) return;
  const int64_t step = x.stride(x.rank() - 1);
  const RowView matrices(x, x.rank() - 2, x.rank() - 1);
  if (step != 1 && columns > kFewKept) copy(x, out);
  visit_size(x.dtype, [&]<class T>() {
    parallel_for(out.numel() / columns, row_grain(columns), [&](int64_t begin, int64_t end) {
      NestWalk walk(matrices.outer, begin / rows);
      T* to = out.data<T>() + begin / rows * rows * columns;
      for (int64_t first = begin % rows, left = end - begin; left > 0; first = 0, walk.next(), to += rows * columns) {
        const int64_t stop = std::min(rows, first + left);
        left -= stop - first;
        // Columns up to row + diagonal belong to the lower triangle, those from there on to the upper one.
        TriangleRows<T>{
            x.data<T>() + walk.in(), x.stride(x.rank() - 2), step, to, columns, diagonal + (lower ? 1 : 0), lower}
            .keep(first, stop);
      }
    });
  });
}

}  // namespace weft
