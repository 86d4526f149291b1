// Masks: elements filled, taken and put, and positions. Elements are met in row-major order, in blocks: the number
// that each block holds is counted first, so that every block knows where its own begin, whatever thread works on it.
#include "tensor/ops/masked.h"

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
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

/// f(i, in, out, axis, count) for the runs of elements [begin, end) of a nest: element i and so many after it.
template <class F> void each_run(const Nest& nest, int64_t begin, int64_t end, const F& f) {
  const NestAxis run = nest.rank > 0 ? nest.inner() : NestAxis{1, 0, 0};
  const Nest outer = nest.outer();
  if (begin >= end) return;
  NestWalk walk(outer, begin / run.size);
  for (int64_t i = begin; i < end; walk.next()) {
    const int64_t start = i % run.size, count = std::min(run.size - start, end - i);
    f(i, walk.in() + start * run.in, walk.out() + start * run.out, run, count);
    i += count;
  }
}

/// Where the elements of each block of the mask that hold begin among all that do.
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

  /// f(k, i, out) for the k-th element that holds, which is element i and lies at `out`.
  template <class F> void each(const F& f) const {
    const int64_t blocks = ceil_div(numel_, kBlock);
    parallel_for(blocks, 2, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        int64_t k = starts_.data()[b];
        const int64_t last = starts_.data()[b + 1];
        if (k == last) continue;
        int64_t places[kGroup], elements[kGroup];
        each_run(nest_, b * kBlock, std::min(numel_, (b + 1) * kBlock),
                 [&](int64_t i, int64_t in, int64_t out, const NestAxis& run, int64_t count) {
                   for (int64_t first = 0; first < count; first += kGroup - 1) {
                     // Without a branch on the mask: what does not hold is written over by the next.
                     int64_t held = 0;
                     const int64_t stop = std::min(count, first + kGroup - 1);
                     for (int64_t j = first; j < stop; ++j) {
                       places[held] = out + j * run.out;
                       elements[held] = i + j;
                       held += mask_[in + j * run.in] != 0;
                     }
                     for (int64_t h = 0; h < held; ++h) f(k + h, elements[h], places[h]);
                     k += held;
                   }
                 });
      }
    });
  }

 private:
  static constexpr int64_t kGroup = 257;
  int64_t count(int64_t begin, int64_t end) const {
    int64_t total = 0;
    each_run(nest_, begin, end, [&](int64_t, int64_t in, int64_t, const NestAxis& run, int64_t length) {
      int64_t sum = 0;
      if (run.in == 1)
        for (int64_t j = 0; j < length; ++j) sum += mask_[in + j] != 0;
      else
        for (int64_t j = 0; j < length; ++j) sum += mask_[in + j * run.in] != 0;
      total += sum;
    });
    return total;
  }

  const uint8_t* mask_;
  const Nest& nest_;
  int64_t numel_;
  Scratch<int64_t> starts_;
  int64_t total_ = 0;
};

void check_count(int64_t found, int64_t expected) {
  if (found != expected) throw Error(text("the mask holds ", found, " times, not ", expected));
}

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
  const Nest nest = paired(mask, x);
  const Blocks blocks(mask, nest);
  check_count(blocks.total(), count);
  visit_size(x.dtype, [&]<class T>() {
    const T* from = x.data<T>();
    T* to = out.data<T>();
    blocks.each([&](int64_t k, int64_t, int64_t place) { to[k] = from[place]; });
  });
}

void op::MaskedScatter::cpu(const Operand& x, const Operand& mask, const Operand& src, const Operand& out) const {
  const Nest nest = paired(mask, out);
  const Blocks blocks(mask, nest);
  if (blocks.total() > src.numel())
    throw ShapeError(text("the mask holds ", blocks.total(), " times, the source has ", src.numel(), " elements"));
  if (x.base != out.base) copy(x, out);
  const int64_t step = src.stride(0);
  visit_size(x.dtype, [&]<class T>() {
    const T* from = src.data<T>();
    T* to = out.data<T>();
    blocks.each([&](int64_t k, int64_t, int64_t place) { to[place] = from[k * step]; });
  });
}

void op::Nonzero::cpu(const Operand& mask, const Operand& out) const {
  const Nest nest = paired(mask, mask);
  const Blocks blocks(mask, nest);
  check_count(blocks.total(), count);
  int64_t* to = out.data<int64_t>();
  const int64_t rank = mask.rank();
  if (!coordinates || rank == 1) return blocks.each([&](int64_t k, int64_t i, int64_t) { to[k] = i; });
  blocks.each([&](int64_t k, int64_t i, int64_t) {
    for (int64_t axis = rank - 1; axis > 0; --axis) {
      to[k * rank + axis] = i % mask.size(axis);
      i /= mask.size(axis);
    }
    if (rank > 0) to[k * rank] = i;
  });
}

void op::Triangle::cpu(const Operand& x, const Operand& out) const {
  const int64_t rows = x.size(x.rank() - 2), columns = x.size(x.rank() - 1);
  if (out.numel() == 0) return;
  const int64_t step = x.stride(x.rank() - 1);
  const RowView lines(x, x.rank() - 1);
  visit_size(x.dtype, [&]<class T>() {
    T* to = out.data<T>();
    parallel_for(out.numel() / columns, row_grain(columns), [&](int64_t begin, int64_t end) {
      NestWalk walk(lines.outer, begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) {
        const T* from = x.data<T>() + walk.in();
        T* row = to + i * columns;
        // Columns up to row + diagonal belong to the lower triangle, those from there on to the upper one.
        const int64_t border = std::clamp<int64_t>(i % rows + diagonal + (lower ? 1 : 0), 0, columns);
        const int64_t first = lower ? 0 : border, last = lower ? border : columns;
        std::fill_n(row, first, T(0));
        for (int64_t j = first; j < last; ++j) row[j] = from[j * step];
        std::fill_n(row + last, columns - last, T(0));
      }
    });
  });
}

}  // namespace weft
