// Padding with entries of the tensor itself, all axes in one pass: each line of the result is a line of x with entries
// added at its ends.
#include "tensor/ops/pad_mode.h"

#include <algorithm>
#include <numeric>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// An axis that has `size` entries in the inner tensor, and `before` and `after` more in the outer one.
struct GrownAxis {
  int64_t size, before, after;
  int64_t inner_step, outer_step;

  int64_t grown() const { return before + size + after; }
  bool is_plain() const { return before == 0 && after == 0; }

  /// The inner entry that entry `i` of the outer tensor is.
  int64_t source(PadMode mode, int64_t i) const {
    const int64_t at = i - before;
    if (at >= 0 && at < size) return at;
    if (mode == PadMode::replicate) return at < 0 ? 0 : size - 1;
    if (mode == PadMode::circular) return at < 0 ? at + size : at - size;
    return at < 0 ? -at : 2 * (size - 1) - at;
  }
  /// f(i) for the entries of the outer tensor that are inner entry `j`, in ascending order but for its own place, which
  /// comes first.
  template <class F> void for_copies(PadMode mode, int64_t j, const F& f) const {
    f(before + j);
    for (int64_t i = 0; i < before; ++i)
      if (source(mode, i) == j) f(i);
    for (int64_t i = before + size; i < grown(); ++i)
      if (source(mode, i) == j) f(i);
  }
};

/// Axes from the slowest to the fastest, and how many elements, contiguous in both tensors, are copied at once.
struct Grown {
  PadMode mode;
  std::vector<GrownAxis> axes;
  int64_t run = 1;

  /// `order` is the one of both that is dense.
  Grown(const Operand& inner, const Operand& outer, const View& order, const std::vector<Padding>& widths, PadMode mode)
      : mode(mode) {
    std::vector<int64_t> axis(static_cast<size_t>(order.rank()));
    std::iota(axis.begin(), axis.end(), 0);
    std::stable_sort(axis.begin(), axis.end(), [&](int64_t i, int64_t j) { return order.stride(i) > order.stride(j); });
    for (const int64_t i : axis) {
      const auto [before, after] = widths[static_cast<size_t>(i)];
      push({inner.size(i), before, after, inner.stride(i), outer.stride(i)});
    }
    if (axes.size() > 1 && axes.back().is_plain() && axes.back().inner_step == 1 && axes.back().outer_step == 1) {
      run = axes.back().size;
      axes.pop_back();
    }
  }

  /// The axes whose entries are lines: all but the last.
  size_t outer() const { return axes.size() - 1; }
  const GrownAxis& line() const { return axes.back(); }

 private:
  /// Adjacent axes without padding are merged where the strides of both tensors allow it.
  void push(const GrownAxis& next) {
    if (next.size == 1 && next.is_plain() && !axes.empty()) return;
    if (!axes.empty() && next.is_plain() && axes.back().is_plain()) {
      GrownAxis& last = axes.back();
      const bool fits =
          last.inner_step == next.size * next.inner_step && last.outer_step == next.size * next.outer_step;
      if (fits || last.size == 1) {
        last = {last.size * next.size, 0, 0, next.inner_step, next.outer_step};
        return;
      }
    }
    axes.push_back(next);
  }
};

/// Which line of a dense tensor: an entry of every outer axis.
class LinePlace {
 public:
  /// Line `i` where size(axis) says how many entries axes have.
  template <class Size> LinePlace(size_t axes, int64_t i, const Size& size) : axes_(axes) {
    for (size_t a = axes; a-- > 0; i /= size(a)) at_[a] = i % size(a);
  }
  int64_t operator[](size_t axis) const { return at_[axis]; }
  template <class Size> void next(const Size& size) {
    for (size_t a = axes_; a-- > 0;) {
      if (++at_[a] < size(a)) return;
      at_[a] = 0;
    }
  }

 private:
  size_t axes_;
  int64_t at_[kMaxAxes];
};

/// f(line, place) for the lines of a dense tensor of `elements`, in parallel.
template <class Size, class F>
void for_lines(const Grown& grown, int64_t elements, int64_t line_size, const Size& size, const F& f) {
  parallel_for(elements / line_size, std::max<int64_t>(1, kCheapGrain / line_size), [&](int64_t begin, int64_t end) {
    LinePlace place(grown.outer(), begin, size);
    for (int64_t line = begin; line < end; ++line, place.next(size)) f(line, place);
  });
}

template <class T> void move_run(const T* from, int64_t run, T* to) {
  if (run == 1)
    *to = *from;
  else
    copy_bytes(from, to, run * static_cast<int64_t>(sizeof(T)));
}

/// An entry that is added to a line, and where it comes from, in elements from the first of the line.
struct Added {
  int64_t to, from;
};

std::vector<Added> added_to_line(const Grown& grown) {
  const GrownAxis& axis = grown.line();
  std::vector<Added> out;
  for (int64_t k = 0; k < axis.before + axis.after; ++k) {
    const int64_t i = k < axis.before ? k : k + axis.size;
    out.push_back({i * grown.run, axis.source(grown.mode, i) * axis.inner_step});
  }
  return out;
}

/// A line of the inner tensor in the middle of one of the outer one, and what is added to it.
template <class T> void grow_line(const Grown& grown, const std::vector<Added>& added, const T* from, T* to) {
  const GrownAxis& axis = grown.line();
  const int64_t run = grown.run;
  T* middle = to + axis.before * run;
  if (axis.inner_step == run)  // lines are short: a call would take as long as what it copies
    for_lanes<T>(axis.size * run,
                 [&](int64_t j, auto lanes) { put_lanes(middle + j, lanes_at(from + j, lanes), lanes); });
  else
    for (int64_t j = 0; j < axis.size; ++j) move_run(from + j * axis.inner_step, run, middle + j * run);
  for (const Added& one : added) move_run(from + one.from, run, to + one.to);
}

template <class T> void grow(const Grown& grown, const T* x, int64_t elements, T* out) {
  const int64_t line_size = grown.line().grown() * grown.run;
  const std::vector<Added> added = added_to_line(grown);
  std::vector<std::vector<int64_t>> sources(grown.outer());  // of the entries of every outer axis, in elements
  for (size_t a = 0; a < grown.outer(); ++a)
    for (int64_t i = 0; i < grown.axes[a].grown(); ++i)
      sources[a].push_back(grown.axes[a].source(grown.mode, i) * grown.axes[a].inner_step);
  const auto size = [&](size_t a) { return std::ssize(sources[a]); };
  for_lines(grown, elements, line_size, size, [&](int64_t line, const LinePlace& place) {
    const T* from = x;
    for (size_t a = 0; a < grown.outer(); ++a) from += sources[a][static_cast<size_t>(place[a])];
    grow_line(grown, added, from, out + line * line_size);
  });
}

/// sum += a line of the outer tensor, each entry where it came from.
template <class T, class C> void add_line(const Grown& grown, const T* from, C* sum) {
  const GrownAxis& axis = grown.line();
  const int64_t run = grown.run, step = axis.outer_step;
  const auto add = [&](int64_t i, int64_t j) {
    for (int64_t k = 0; k < run; ++k) sum[j * run + k] += static_cast<C>(from[i * step + k]);
  };
  if (step == run) {
    const T* middle = from + axis.before * run;
    for (int64_t k = 0; k < axis.size * run; ++k) sum[k] += static_cast<C>(middle[k]);
  } else {
    for (int64_t j = 0; j < axis.size; ++j) add(axis.before + j, j);
  }
  for (int64_t i = 0; i < axis.before; ++i) add(i, axis.source(grown.mode, i));
  for (int64_t i = axis.before + axis.size; i < axis.grown(); ++i) add(i, axis.source(grown.mode, i));
}

/// The lines of the outer tensor that are copies of a line of the inner one, added up; those from `axis` on are still
/// to be chosen.
template <class T, class C>
void add_copies(const Grown& grown, const LinePlace& place, size_t axis, const T* from, C* sum) {
  if (axis == grown.outer()) return add_line(grown, from, sum);
  const GrownAxis& at = grown.axes[axis];
  at.for_copies(grown.mode, place[axis],
                [&](int64_t i) { add_copies(grown, place, axis + 1, from + i * at.outer_step, sum); });
}

template <class T> void shrink(const Grown& grown, const T* g, int64_t elements, T* out) {
  using C = Compute<T>;
  const int64_t line_size = grown.line().size * grown.run;
  const auto size = [&](size_t a) { return grown.axes[a].size; };
  for_lines(grown, elements, line_size, size, [&](int64_t line, const LinePlace& place) {
    T* to = out + line * line_size;
    if constexpr (std::is_same_v<T, C>) {
      std::fill_n(to, line_size, C{});
      add_copies(grown, place, 0, g, to);
    } else {
      const Scratch<C> sum(line_size);
      std::fill_n(sum.data(), line_size, C{});
      add_copies(grown, place, 0, g, sum.data());
      for (int64_t k = 0; k < line_size; ++k) to[k] = convert<T>(sum.data()[k]);
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::PadMode::cpu(const Operand& x, const Operand& out) const {
  if (out.numel() == 0) return;
  const Grown grown(x, out, out.layout(), widths, mode);
  visit_size(out.dtype, [&]<class T>() { grow<T>(grown, x.data<T>(), out.numel(), out.data<T>()); });
}

void op::PadModeBackward::cpu(const Operand& g, const Operand& out) const {
  if (out.numel() == 0) return;
  const Grown grown(out, g, out.layout(), widths, mode);
  visit_floating(out.dtype, [&]<class T>() { shrink<T>(grown, g.data<T>(), out.numel(), out.data<T>()); });
}

}  // namespace weft
