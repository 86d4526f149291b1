// A head's q, k, v and g are laid out once as products want them: rows for left operands, pairs of rows in words for
// right ones, all sizes padded with zeros to amx::kMultiple. Blocks of rows then go through two (forward) or five
// products with sums in f32. dk and dv are summed transposed, so that a block's scores are right operands there and
// need no transposing.
#include "tensor/kernels/cpu/rowwise/attention_bf16.h"

#include <cstring>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/gemm/bf16_products.h"

namespace weft::kernels::cpu {
namespace {

using amx::padded;

/// Rows of halves, padded with zeros on both sides; a left operand.
class Rows {
 public:
  Rows(int64_t rows, int64_t columns) : rows_(padded(rows)), columns_(padded(columns)), data_(rows_ * columns_) {}
  void load(const Matrix<const BFloat16>& m) const {
    for (int64_t i = 0; i < rows_; ++i) {
      BFloat16* to = data_.data() + i * columns_;
      const int64_t filled = i < m.rows ? m.columns : 0;
      if (filled > 0 && m.column_stride == 1)
        std::memcpy(static_cast<void*>(to), &m.at(i, 0), static_cast<size_t>(filled) * 2);
      else
        for (int64_t j = 0; j < filled; ++j) to[j] = m.at(i, j);
      std::fill(to + filled, to + columns_, BFloat16());
    }
  }
  /// The first `rows` rows of f32, rounded, `columns` of each; zeros after them.
  void round(const float* from, int64_t stride, int64_t rows, int64_t columns) const {
    for (int64_t i = 0; i < padded(rows); ++i) {
      BFloat16* to = data_.data() + i * columns_;
      if (i < rows) narrow(from + i * stride, to, columns);
      const int64_t filled = i < rows ? columns : 0;
      std::fill(to + filled, to + padded(columns), BFloat16());
    }
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const BFloat16* at(int64_t row) const { return data_.data() + row * columns_; }

 private:
  int64_t rows_, columns_;
  Scratch<BFloat16> data_;
};

/// Words of two adjacent 16-bit values; a right operand of (2 rows, columns).
class Pairs {
 public:
  Pairs(int64_t rows, int64_t columns) : rows_(rows / 2), columns_(columns), data_(rows_ * columns_) {}
  /// x, untransposed: each word holds the elements of two rows.
  void interleave(const Rows& x, int64_t rows) const {
    for (int64_t i = 0; i < padded(rows); i += 2) {
      const BFloat16 *even = x.at(i), *odd = x.at(i + 1);
      uint32_t* to = data_.data() + i / 2 * columns_;
#pragma omp simd
      for (int64_t j = 0; j < columns_; ++j)
        to[j] = static_cast<uint32_t>(even[j].bits) | static_cast<uint32_t>(odd[j].bits) << 16;
    }
  }
  /// x transposed: its words are pairs already.
  void transpose(const Rows& x) const {
    simd::transpose_copy(reinterpret_cast<const uint32_t*>(x.at(0)), x.columns() / 2, data_.data(), columns_, x.rows(),
                         x.columns() / 2);
  }
  const uint32_t* data() const { return data_.data(); }
  int64_t columns() const { return columns_; }

 private:
  int64_t rows_, columns_;
  Scratch<uint32_t> data_;
};

/// The transpose of rows, as a left operand, from the words of Pairs::transpose.
void split(const Pairs& words, const Rows& to) {
  for (int64_t i = 0; i < to.rows(); i += 2) {
    const uint32_t* from = words.data() + i / 2 * words.columns();
    BFloat16 *even = const_cast<BFloat16*>(to.at(i)), *odd = const_cast<BFloat16*>(to.at(i + 1));
#pragma omp simd
    for (int64_t j = 0; j < to.columns(); ++j) {
      even[j].bits = static_cast<uint16_t>(from[j]);
      odd[j].bits = static_cast<uint16_t>(from[j] >> 16);
    }
  }
}

Matrix<const BFloat16> head_of(const Operand& x, int64_t batch) { return matrix_of<BFloat16>(x, batch); }

/// The sizes of one head.
struct HeadSize {
  int64_t rows, columns, depth, width;
  HeadSize(const AttentionInputs& in)
      : rows(in.q.size(in.q.rank() - 2)),
        columns(in.k.size(in.k.rank() - 2)),
        depth(in.q.size(in.q.rank() - 1)),
        width(in.v.size(in.v.rank() - 1)) {}
};

class Bf16Forward {
 public:
  Bf16Forward(const AttentionInputs& in, const op::AttentionSetting& setting, const Operand& out,
              const AttentionRows& rows)
      : in_(in), setting_(setting), out_(out), rows_(rows), size_(in), blocks_(in, setting.causal) {}

  /// Blocks [begin, end) of all heads.
  void run(int64_t begin, int64_t end) const {
    const Rows q(size_.rows, size_.depth), k(size_.columns, size_.depth), v(size_.columns, size_.width);
    const Pairs k_turned(k.columns(), k.rows()), v_pairs(v.rows(), v.columns());
    const Rows p(blocks_.height(), size_.columns);
    const Scratch<float> scores(p.rows() * p.columns()), sums(p.rows() * v.columns());
    const BlockSoftmax<float> softmax(in_, setting_, rows_, blocks_);
    int64_t loaded = -1;
    for (int64_t item = begin; item < end; ++item) {
      const RowBlock block = blocks_.at(item / blocks_.per_head(), item % blocks_.per_head());
      if (block.batch != loaded) {
        q.load(head_of(in_.q, block.batch));
        k.load(head_of(in_.k, block.batch));
        v.load(head_of(in_.v, block.batch));
        k_turned.transpose(k);
        v_pairs.interleave(v, size_.columns);
        loaded = block.batch;
      }
      const int64_t rows = padded(block.rows), columns = padded(block.columns), stride = p.columns();
      {
        const Bf16Products product;
        product(q.at(block.first), q.columns(), k_turned.data(), k_turned.columns(), scores.data(), stride, rows,
                columns, q.columns(), false);
      }
      softmax.forward(block, scores.data(), stride);
      p.round(scores.data(), stride, block.rows, block.columns);
      {
        const Bf16Products product;
        product(p.at(0), stride, v_pairs.data(), v_pairs.columns(), sums.data(), v.columns(), rows, v.columns(),
                columns, false);
      }
      const Matrix<const float> result{sums.data(), block.rows, size_.width, v.columns(), 1};
      copy_matrix_serial<float, BFloat16>(
          result, matrix_of<BFloat16>(out_, block.batch).block(block.first, 0, block.rows, size_.width));
    }
  }
  const Blocks& blocks() const { return blocks_; }

 private:
  const AttentionInputs in_;
  const op::AttentionSetting& setting_;
  const Operand& out_;
  const AttentionRows rows_;
  const HeadSize size_;
  const Blocks blocks_;
};

/// The operands of a head's gradient.
struct BackwardOperands {
  Rows q, k, v, g;
  Pairs q_turned, k_turned, v_turned, g_turned, k_pairs;
  Rows q_columns, g_columns;

  BackwardOperands(const HeadSize& n)
      : q(n.rows, n.depth),
        k(n.columns, n.depth),
        v(n.columns, n.width),
        g(n.rows, n.width),
        q_turned(q.columns(), q.rows()),
        k_turned(k.columns(), k.rows()),
        v_turned(v.columns(), v.rows()),
        g_turned(g.columns(), g.rows()),
        k_pairs(k.rows(), k.columns()),
        q_columns(n.depth, n.rows),
        g_columns(n.width, n.rows) {}

  void load(const Operand& gradient, const AttentionInputs& in, int64_t batch) const {
    q.load(head_of(in.q, batch));
    k.load(head_of(in.k, batch));
    v.load(head_of(in.v, batch));
    g.load(head_of(gradient, batch));
    q_turned.transpose(q);
    k_turned.transpose(k);
    v_turned.transpose(v);
    g_turned.transpose(g);
    k_pairs.interleave(k, k.rows());
    split(q_turned, q_columns);
    split(g_turned, g_columns);
  }
};

class Bf16Backward {
 public:
  Bf16Backward(const Operand& g, const AttentionInputs& in, const op::AttentionSetting& setting,
               const AttentionRows& rows, const AttentionGradients& out)
      : g_(g), in_(in), setting_(setting), rows_(rows), out_(out), size_(in), blocks_(in, setting.causal) {}

  /// Heads [begin, end).
  void run(int64_t begin, int64_t end) const {
    const BackwardOperands head(size_);
    const int64_t height = padded(blocks_.height()), columns = padded(size_.columns);
    const Scratch<float> p(height * columns), slope(height * columns), dq(height * head.q.columns());
    const Scratch<float> dk(head.k.columns() * columns), dv(head.v.columns() * columns);
    const Rows p_rows(blocks_.height(), size_.columns), slope_rows(blocks_.height(), size_.columns);
    const Pairs p_pairs(height, columns), slope_pairs(height, columns);
    const BlockSoftmax<float> softmax(in_, setting_, rows_, blocks_);
    for (int64_t batch = begin; batch < end; ++batch) {
      head.load(g_, in_, batch);
      std::fill_n(dk.data(), head.k.columns() * columns, 0.0f);
      std::fill_n(dv.data(), head.v.columns() * columns, 0.0f);
      for (int64_t index = 0; index < blocks_.per_head(); ++index) {
        const RowBlock block = blocks_.at(batch, index);
        const int64_t rows = padded(block.rows), seen = padded(block.columns);
        {
          const Bf16Products product;
          product(head.q.at(block.first), head.q.columns(), head.k_turned.data(), columns, p.data(), columns, rows,
                  seen, head.q.columns(), false);
          product(head.g.at(block.first), head.g.columns(), head.v_turned.data(), columns, slope.data(), columns, rows,
                  seen, head.g.columns(), false);
        }
        softmax.backward(block, p.data(), slope.data(), columns);
        p_rows.round(p.data(), columns, block.rows, block.columns);
        slope_rows.round(slope.data(), columns, block.rows, block.columns);
        p_pairs.interleave(p_rows, block.rows);
        slope_pairs.interleave(slope_rows, block.rows);
        {
          const Bf16Products product;
          product(slope_rows.at(0), columns, head.k_pairs.data(), head.k.columns(), dq.data(), head.q.columns(), rows,
                  head.q.columns(), seen, false);
          product(head.q_columns.at(0) + block.first, head.q_columns.columns(), slope_pairs.data(), columns, dk.data(),
                  columns, head.k.columns(), seen, rows, true);
          product(head.g_columns.at(0) + block.first, head.g_columns.columns(), p_pairs.data(), columns, dv.data(),
                  columns, head.v.columns(), seen, rows, true);
        }
        copy_matrix_serial<float, BFloat16>(
            {dq.data(), block.rows, size_.depth, head.q.columns(), 1},
            matrix_of<BFloat16>(out_.dq, batch).block(block.first, 0, block.rows, size_.depth));
      }
      copy_matrix_serial<float, BFloat16>({dk.data(), size_.columns, size_.depth, 1, columns},
                                          matrix_of<BFloat16>(out_.dk, batch));
      copy_matrix_serial<float, BFloat16>({dv.data(), size_.columns, size_.width, 1, columns},
                                          matrix_of<BFloat16>(out_.dv, batch));
    }
  }
  const Blocks& blocks() const { return blocks_; }

 private:
  const Operand& g_;
  const AttentionInputs in_;
  const op::AttentionSetting& setting_;
  const AttentionRows rows_;
  const AttentionGradients out_;
  const HeadSize size_;
  const Blocks blocks_;
};

/// The least number of items for a thread, of which each does `rows` rows.
int64_t grain_of(int64_t rows, const HeadSize& n) {
  return std::max<int64_t>(1, 800000 / (rows * (n.columns + 1) * (n.depth + n.width + 16) + 1));
}

}  // namespace

void bf16_attention(const AttentionInputs& in, const op::AttentionSetting& setting, const Operand& out,
                    const AttentionRows& rows) {
  const Bf16Forward forward(in, setting, out, rows);
  const int64_t count = batch_count(in.q) * forward.blocks().per_head();
  if (count == 0) return;
  parallel_for(count, grain_of(forward.blocks().height(), HeadSize(in)),
               [&](int64_t begin, int64_t end) { forward.run(begin, end); });
}

void bf16_attention_backward(const Operand& g, const AttentionInputs& in, const op::AttentionSetting& setting,
                             const AttentionRows& rows, const AttentionGradients& out) {
  const Bf16Backward backward(g, in, setting, rows, out);
  parallel_for(batch_count(in.q), grain_of(HeadSize(in).rows, HeadSize(in)),
               [&](int64_t begin, int64_t end) { backward.run(begin, end); });
}

}  // namespace weft::kernels::cpu
