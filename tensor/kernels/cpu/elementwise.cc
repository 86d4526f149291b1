#include "tensor/kernels/cpu/elementwise.h"

#include <algorithm>

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kTileColumns = 32;  // of a tile where some operand runs along another axis than the first one
constexpr int64_t kTileRows = 64;

// The loop's axes, innermost first, with the bytes each operand steps; always at least two of them.
struct Plan {
  explicit Plan(int count) : operands(count) {}
  int operands;
  int rank = 0;
  bool tiled = false;
  int64_t shape[kMaxAxes + 2];
  int64_t step[kMaxAxes + 2][kMaxLoopOperands];
  char* base[kMaxLoopOperands];

  void swap(int a, int b) {
    std::swap(shape[a], shape[b]);
    std::swap(step[a], step[b]);
  }
  void take(const Operand* list);
  void sort();
  void merge();
  void choose_tiles(const Operand* list);
  void fill_up();
  bool merges(int inner, int outer) const;
};

void Plan::take(const Operand* list) {
  for (int k = 0; k < operands; ++k)
    base[k] = static_cast<char*>(list[k].base) + list[k].view->offset() * static_cast<int64_t>(size_of(list[k].dtype));
  const Shape& sizes = list[0].shape();
  for (int64_t axis = list[0].rank() - 1; axis >= 0; --axis) {
    const int64_t size = sizes[static_cast<size_t>(axis)];
    if (size == 1) continue;
    const bool backwards = list[0].stride(axis) < 0;  // walk the first operand forwards
    for (int k = 0; k < operands; ++k) {
      const int64_t bytes = list[k].strides()[static_cast<size_t>(axis)] * static_cast<int64_t>(size_of(list[k].dtype));
      if (backwards) base[k] += bytes * (size - 1);
      step[rank][k] = backwards ? -bytes : bytes;
    }
    shape[rank++] = size;
  }
}

void Plan::sort() {
  for (int i = 1; i < rank; ++i)
    for (int j = i; j > 0 && step[j][0] < step[j - 1][0]; --j) swap(j, j - 1);
}

bool Plan::merges(int inner, int outer) const {
  for (int k = 0; k < operands; ++k)
    if (step[outer][k] != step[inner][k] * shape[inner]) return false;
  return true;
}

void Plan::merge() {
  int last = 0;
  for (int axis = 1; axis < rank; ++axis) {
    if (merges(last, axis)) {
      shape[last] *= shape[axis];
    } else if (++last != axis) {
      swap(last, axis);
    }
  }
  rank = rank == 0 ? 0 : last + 1;
}

// An operand that is contiguous along another axis would touch a new cache line per element: walk small tiles of the
// two axes instead, so that its lines are used up while they are near.
void Plan::choose_tiles(const Operand* list) {
  for (int k = 1; k < operands; ++k) {
    const int64_t size = static_cast<int64_t>(size_of(list[k].dtype));
    if (std::abs(step[0][k]) <= size) continue;
    for (int axis = 1; axis < rank; ++axis) {
      if (std::abs(step[axis][k]) != size) continue;
      for (int j = axis; j > 1; --j) swap(j, j - 1);
      tiled = true;
      return;
    }
  }
}

void Plan::fill_up() {
  for (; rank < 2; ++rank) {
    shape[rank] = 1;
    std::fill_n(step[rank], operands, 0);
  }
}

// The rows of a plan: a position along the axes from `first` on.
class Position {
 public:
  Position(const Plan& plan, int first, int64_t row) : plan_(plan), first_(first) {
    std::copy_n(plan.base, plan.operands, pointers);
    for (int axis = first; axis < plan.rank; ++axis) {
      index_[axis] = row % plan.shape[axis];
      row /= plan.shape[axis];
      for (int k = 0; k < plan.operands; ++k) pointers[k] += index_[axis] * plan.step[axis][k];
    }
  }
  // How many rows follow on the first axis.
  int64_t run() const { return first_ < plan_.rank ? plan_.shape[first_] - index_[first_] : 1; }
  void advance(int64_t rows) {
    for (int axis = first_; axis < plan_.rank; ++axis, rows = 1) {
      index_[axis] += rows;
      for (int k = 0; k < plan_.operands; ++k) pointers[k] += rows * plan_.step[axis][k];
      if (index_[axis] < plan_.shape[axis]) return;
      for (int k = 0; k < plan_.operands; ++k) pointers[k] -= plan_.shape[axis] * plan_.step[axis][k];
      index_[axis] = 0;
    }
  }
  char* pointers[kMaxLoopOperands];

 private:
  const Plan& plan_;
  int first_;
  int64_t index_[kMaxAxes + 2];
};

class Runner {
 public:
  Runner(const Plan& plan, InnerLoop inner, const void* context) : plan_(plan), inner_(inner), context_(context) {}

  void rows(int64_t begin, int64_t end) const {
    Position at(plan_, 1, begin);
    while (begin < end) {
      const int64_t count = std::min(at.run(), end - begin);
      inner_(context_, at.pointers, plan_.step[0], plan_.step[1], plan_.shape[0], count);
      at.advance(count);
      begin += count;
    }
  }

  // Chunks of long rows.
  void chunks(int64_t begin, int64_t end, int64_t per_row) const {
    while (begin < end) {
      const int64_t chunk = begin % per_row, last = std::min(per_row, chunk + end - begin);
      const int64_t from = chunk * kLoopChunk, to = std::min(last * kLoopChunk, plan_.shape[0]);
      Position at(plan_, 1, begin / per_row);
      for (int k = 0; k < plan_.operands; ++k) at.pointers[k] += from * plan_.step[0][k];
      inner_(context_, at.pointers, plan_.step[0], plan_.step[1], to - from, 1);
      begin += last - chunk;
    }
  }

  // Bands of kTileRows rows, tile by tile.
  void bands(int64_t begin, int64_t end, int64_t per_plane) const {
    for (; begin < end; ++begin) {
      const int64_t row = begin % per_plane * kTileRows, rows = std::min(kTileRows, plan_.shape[1] - row);
      Position at(plan_, 2, begin / per_plane);
      for (int k = 0; k < plan_.operands; ++k) at.pointers[k] += row * plan_.step[1][k];
      for (int64_t column = 0; column < plan_.shape[0]; column += kTileColumns) {
        const int64_t columns = std::min(kTileColumns, plan_.shape[0] - column);
        inner_(context_, at.pointers, plan_.step[0], plan_.step[1], columns, rows);
        for (int k = 0; k < plan_.operands; ++k) at.pointers[k] += columns * plan_.step[0][k];
      }
    }
  }

 private:
  const Plan& plan_;
  InnerLoop inner_;
  const void* context_;
};

}  // namespace

void strided_loop(const Operand* operands, int count, int64_t grain, InnerLoop inner, const void* context) {
  const int64_t total = operands[0].numel();
  if (total == 0) return;
  Plan plan(count);
  plan.take(operands);
  plan.sort();
  plan.merge();
  const bool ordered = grain == 0;
  if (!ordered) plan.choose_tiles(operands);
  plan.fill_up();
  const Runner runner(plan, inner, context);
  const int64_t columns = plan.shape[0], rows = total / columns;
  if (ordered || (total < 2 * grain && !plan.tiled)) return runner.rows(0, rows);
  if (plan.tiled) {
    const int64_t per_plane = (plan.shape[1] + kTileRows - 1) / kTileRows;
    return parallel_for(rows / plan.shape[1] * per_plane, grain / (columns * kTileRows) + 1,
                        [&](int64_t begin, int64_t end) { runner.bands(begin, end, per_plane); });
  }
  if (columns < 2 * kLoopChunk)
    return parallel_for(rows, grain / columns + 1, [&](int64_t begin, int64_t end) { runner.rows(begin, end); });
  const int64_t per_row = (columns + kLoopChunk - 1) / kLoopChunk;
  parallel_for(rows * per_row, grain / kLoopChunk + 1,
               [&](int64_t begin, int64_t end) { runner.chunks(begin, end, per_row); });
}

}  // namespace weft::kernels::cpu
