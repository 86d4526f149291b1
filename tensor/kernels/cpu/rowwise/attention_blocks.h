// What the forms of attention share: blocks of rows, masks, softmax of a row, dropout.
#pragma once

#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/dropout.h"

namespace weft::kernels::cpu {

using op::AttentionSetting;

/// What attention reads.
struct AttentionInputs {
  const Operand &q, &k, &v, &mask;
};

/// What turns scores into probabilities, per row.
struct AttentionRows {
  const Operand &largest, &factor;
};

struct AttentionGradients {
  const Operand &dq, &dk, &dv;
};

/// A block of rows of one head.
struct RowBlock {
  int64_t batch;
  int64_t first;  // row
  int64_t rows;
  int64_t columns;  // keys that its last row attends to
};

/// The blocks of all heads: as many rows as keep the scores in the L2 cache.
class Blocks {
 public:
  Blocks(const AttentionInputs& in, bool causal)
      : rows_(in.q.size(in.q.rank() - 2)), columns_(in.k.size(in.k.rank() - 2)), causal_(causal) {
    height_ = std::clamp<int64_t>(65536 / std::max<int64_t>(columns_, 1) / 32 * 32, 32, 64);
    per_head_ = ceil_div(rows_, height_);
  }
  int64_t per_head() const { return per_head_; }
  int64_t height() const { return std::min(height_, rows_); }
  int64_t columns() const { return columns_; }
  RowBlock at(int64_t batch, int64_t index) const {
    const int64_t first = index * height_, end = std::min(first + height_, rows_);
    return {batch, first, end - first, seen_by(end - 1)};
  }
  /// How many keys row `i` of a block attends to.
  int64_t seen(const RowBlock& block, int64_t i) const { return seen_by(block.first + i); }

 private:
  /// Where there are more columns than rows, the last row sees the last column.
  int64_t seen_by(int64_t row) const {
    return causal_ ? std::min(columns_, row + 1 + std::max<int64_t>(columns_ - rows_, 0)) : columns_;
  }
  int64_t rows_, columns_, height_, per_head_;
  bool causal_;
};

/// x = -inf where `seen` is false.
template <class C> void hide_unseen(const bool* seen, int64_t step, C* x, int64_t n) {
  constexpr C kHidden = -std::numeric_limits<C>::infinity();
  if (step != 1) {
    for (int64_t j = 0; j < n; ++j)
      if (!seen[j * step]) x[j] = kHidden;
    return;
  }
  for_lanes<C>(n, [&](int64_t j, auto count) {
    const auto flags = [&] {
      if constexpr (std::is_same_v<decltype(count), int>) return simd::load_part<C>(seen + j, count);
      return simd::load<C>(seen + j);
    }();
    put_lanes(x + j, flags != 0 ? lanes_at(x + j, count) : simd::splat<C>(kHidden), count);
  });
}

/// x += mask, or -inf where a bool one is false.
template <class C> void add_mask(const Operand& mask, int64_t batch, int64_t row, C* x, int64_t n) {
  if (mask.dtype == DType::boolean) {
    const Matrix<bool> m = matrix_of<bool>(mask, batch);
    const bool* seen = m.data + row * m.row_stride;
    hide_unseen(seen, m.column_stride, x, n);
  } else {
    visit_floating(mask.dtype, [&]<class M>() {
      const Matrix<M> m = matrix_of<M>(mask, batch);
      const M* term = m.data + row * m.row_stride;
      for (int64_t j = 0; j < n; ++j) x[j] += static_cast<C>(term[j * m.column_stride]);
    });
  }
}

/// x = exp(x - shift) factor.
template <class C> void exp_row(C* x, int64_t n, C shift, C factor) {
  for_lanes<C>(
      n, [&](int64_t j, auto count) { put_lanes(x + j, vmath::exp(lanes_at(x + j, count) - shift) * factor, count); });
}

/// The mask of the dropout over a block of probabilities: 0 or 1 / (1 - p), row-major with stride() columns.
template <class C> class DropoutBlock {
 public:
  DropoutBlock(const AttentionSetting& setting, const Blocks& blocks, int64_t rows)
      : setting_(setting),
        rows_(rows),
        stride_(round_up(blocks.columns(), 4)),
        factors_(setting.dropout_p > 0 ? checked_multiply(blocks.height(), stride_) : 0) {}
  void draw(const RowBlock& block) const {
    if (setting_.dropout_p <= 0 || block.columns == 0) return;
    C one = 1;
    const View shape = View::contiguous({block.rows, stride_}), same = View::create(shape.shape(), {0, 0});
    const DType dtype = sizeof(C) == 8 ? DType::f64 : DType::f32;
    const uint64_t row = static_cast<uint64_t>(block.batch * rows_ + block.first);
    const uint64_t offset = setting_.key.offset + row * static_cast<uint64_t>(stride_ / 4);
    const op::Dropout dropout{setting_.dropout_p, setting_.key.seed, offset};
    dropout.cpu({&one, &same, dtype}, {factors_.data(), &shape, dtype});
  }
  /// x *= the factors of row `i`.
  void apply(int64_t i, C* x, int64_t n) const {
    if (setting_.dropout_p <= 0) return;
    const C* f = factors_.data() + i * stride_;
    for_lanes<C>(
        n, [&](int64_t j, auto count) { put_lanes(x + j, lanes_at(x + j, count) * lanes_at(f + j, count), count); });
  }

 private:
  const AttentionSetting& setting_;
  int64_t rows_, stride_;
  Scratch<C> factors_;
};

/// What is done with a block of scores between the products, row by row. One per thread: it has the dropout's memory.
template <class C> class BlockSoftmax {
 public:
  BlockSoftmax(const AttentionInputs& in, const AttentionSetting& setting, const AttentionRows& rows,
               const Blocks& blocks)
      : in_(in),
        rows_(rows),
        blocks_(blocks),
        dropout_(setting, blocks, in.q.size(in.q.rank() - 2)),
        scale_(static_cast<C>(setting.scale)) {}

  /// p, whose rows are `stride` apart: scores become probabilities after dropout, 0 for keys that a row does not see.
  /// `largest` and `factor` of the rows are written.
  void forward(const RowBlock& block, C* p, int64_t stride) const {
    dropout_.draw(block);
    const Matrix<C> largest = matrix_of<C>(rows_.largest, block.batch),
                    factor = matrix_of<C>(rows_.factor, block.batch);
    for (int64_t i = 0; i < block.rows; ++i, p += stride) {
      const int64_t seen = blocks_.seen(block, i), at = block.first + i;
      softmax(block.batch, at, p, seen, largest.at(at, 0), factor.at(at, 0));
      dropout_.apply(i, p, seen);
      std::fill(p + seen, p + block.columns, C(0));
    }
  }
  /// The same from `largest` and `factor`; slope, the gradients of p, become those of the scores.
  void backward(const RowBlock& block, C* p, C* slope, int64_t stride) const {
    dropout_.draw(block);
    const Matrix<C> largest = matrix_of<C>(rows_.largest, block.batch),
                    factor = matrix_of<C>(rows_.factor, block.batch);
    for (int64_t i = 0; i < block.rows; ++i, p += stride, slope += stride) {
      const int64_t seen = blocks_.seen(block, i), at = block.first + i;
      scale_and_mask(block.batch, at, p, seen);
      exp_row(p, seen, largest.at(at, 0), factor.at(at, 0));
      dropout_.apply(i, slope, seen);
      score_gradients(p, slope, seen);
      dropout_.apply(i, p, seen);
      std::fill(p + seen, p + block.columns, C(0));
      std::fill(slope + seen, slope + block.columns, C(0));
    }
  }

 private:
  void scale_and_mask(int64_t batch, int64_t at, C* row, int64_t n) const {
    row_scale(row, n, scale_, row);
    if (in_.mask.defined()) add_mask<C>(in_.mask, batch, at, row, n);
  }
  /// row = softmax(scale row + mask) of its first `n` columns, and what makes it again: exp(score - largest) factor.
  void softmax(int64_t batch, int64_t at, C* row, int64_t n, C& largest, C& factor) const {
    scale_and_mask(batch, at, row, n);
    largest = row_max(row, n);
    if (largest == -std::numeric_limits<C>::infinity()) largest = 0;  // every key is masked, or all scores are NaN
    const double sum = row_exp_to(row, n, largest, row);
    factor = sum == 0 ? C(0) : static_cast<C>(1 / sum);
    row_scale(row, n, factor, row);
  }
  /// slope = p (slope - sum(p slope)) scale.
  void score_gradients(const C* p, C* slope, int64_t n) const {
    const C mean = static_cast<C>(row_dot(p, slope, n)), scale = scale_;
    for_lanes<C>(n, [&](int64_t j, auto count) {
      put_lanes(slope + j, lanes_at(p + j, count) * (lanes_at(slope + j, count) - mean) * scale, count);
    });
  }

  const AttentionInputs& in_;
  const AttentionRows& rows_;
  const Blocks& blocks_;
  const DropoutBlock<C> dropout_;
  C scale_;
};

}  // namespace weft::kernels::cpu
