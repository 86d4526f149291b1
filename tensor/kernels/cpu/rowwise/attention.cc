// Attention by blocks of rows: a block's scores fill a piece of scratch that stays in the cache, and the gradient
// computes them again instead of keeping T x S probabilities per head. What a causal block cannot see is not computed.
//
// Every head (an index of the batch axes) is a pair of matrix products per block on one thread; threads share the
// heads, forward also their blocks. The blocks depend on the sizes alone, and a head's gradients of k and v are added
// up by one thread in a fixed order.
//
// bf16 on a CPU with instructions for its products takes the forms of attention_bf16.h.
//
// Known limit: the gradient of a single head with a long sequence uses one thread.
#include "tensor/ops/attention.h"

#include <optional>

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/gemm/amx.h"
#include "tensor/kernels/cpu/gemm/bf16_gemm.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/rowwise/attention_bf16.h"
#include "tensor/kernels/cpu/rowwise/attention_blocks.h"

namespace weft::kernels::cpu {
namespace {

/// A matrix as values of Compute<T> that products read without a copy: itself, or a dense copy of that dtype.
template <class T> class Readable {
 public:
  using C = Compute<T>;
  explicit Readable(const Operand& x) : operand_(x) {}
  Matrix<const C> at(int64_t batch) {
    const Matrix<const T> m = matrix_of<T>(operand_, batch);
    if constexpr (std::is_same_v<T, C>)
      if (onednn::is_blas(m)) return m;
    if (batch != held_) {
      if (!copy_) copy_.emplace(checked_multiply(m.rows, m.columns));
      copy_matrix_serial<T, C>(m, row_major(copy_->data(), m.rows, m.columns));
      held_ = batch;
    }
    return row_major<const C>(copy_->data(), m.rows, m.columns);
  }

 private:
  Operand operand_;
  std::optional<Scratch<C>> copy_;
  int64_t held_ = -1;
};

/// A matrix that products write: itself, or a dense one of Compute<T> that `finish` copies into it.
template <class T> class Writable {
 public:
  using C = Compute<T>;
  explicit Writable(Matrix<T> to) : to_(to) {
    if constexpr (std::is_same_v<T, C>)
      if (to.column_stride == 1 && to.row_stride >= to.columns) return;
    copy_.emplace(checked_multiply(to.rows, to.columns));
  }
  Matrix<C> matrix() const {
    if constexpr (std::is_same_v<T, C>)
      if (!copy_) return to_;
    return row_major(copy_->data(), to_.rows, to_.columns);
  }
  void finish() const {
    if (copy_) copy_matrix_serial<C, T>(row_major<const C>(copy_->data(), to_.rows, to_.columns), to_);
  }

 private:
  Matrix<T> to_;
  std::optional<Scratch<C>> copy_;
};

template <class C> void clear(Matrix<C> m) {
  for (int64_t i = 0; i < m.rows; ++i) std::fill_n(&m.at(i, 0), m.columns, C(0));
}

/// Products of few rows read keys and values of 16 bits as they lie: to widen them first would take longer.
constexpr int64_t kFewRows = 4;

/// scores = queries keys^T.
template <class T>
void score_keys(const Matrix<const T>& queries, const Matrix<const T>& keys, const Matrix<Compute<T>>& scores) {
  using C = Compute<T>;
  for (int64_t i = 0; i < queries.rows; ++i)
    for (int64_t j = 0; j < keys.rows; ++j) {
      const T *q = &queries.at(i, 0), *k = &keys.at(j, 0);
      simd::Vec<C> sum{};
      for_lanes<C>(keys.columns,
                   [&](int64_t d, auto count) { sum += lanes_at(q + d, count) * lanes_at(k + d, count); });
      scores.at(i, j) = simd::fold_lanes<Add, C, simd::kLanes<C>>(sum);
    }
}

/// out = p values.
template <class T>
void sum_values(const Matrix<Compute<T>>& p, const Matrix<const T>& values, const Matrix<Compute<T>>& out) {
  using C = Compute<T>;
  for (int64_t i = 0; i < p.rows; ++i)
    for_lanes<C>(values.columns, [&](int64_t d, auto count) {
      simd::Vec<C> even{}, odd{};  // sums that do not wait for each other
      int64_t j = 0;
      for (; j + 2 <= values.rows; j += 2) {
        even += p.at(i, j) * lanes_at(&values.at(j, d), count);
        odd += p.at(i, j + 1) * lanes_at(&values.at(j + 1, d), count);
      }
      if (j < values.rows) even += p.at(i, j) * lanes_at(&values.at(j, d), count);
      put_lanes(&out.at(i, d), even + odd, count);
    });
}

template <class T> class Forward {
 public:
  using C = Compute<T>;
  Forward(const AttentionInputs& in, const AttentionSetting& setting, const Operand& out, const AttentionRows& rows)
      : in_(in), setting_(setting), out_(out), rows_(rows), blocks_(in, setting.causal) {}

  void run() const {
    const int64_t count = batch_count(in_.q) * blocks_.per_head();
    if (count == 0) return;  // a block without rows is no work to divide by
    const int64_t depth = in_.q.size(in_.q.rank() - 1) + out_.size(out_.rank() - 1);
    const int64_t work = blocks_.height() * (blocks_.columns() + 1) * (depth + 16);
    parallel_for(count, std::max<int64_t>(1, 200000 / work), [&](int64_t begin, int64_t end) { blocks(begin, end); });
  }

 private:
  static Matrix<const T> whole(const Operand& x, const RowBlock& block) { return matrix_of<T>(x, block.batch); }
  bool reads_in_place() const {
    const auto lies = [](const Operand& x) { return x.size(x.rank() - 1) <= 1 || x.stride(x.rank() - 1) == 1; };
    return is_half<T> && !loops_forced() && blocks_.height() <= kFewRows && lies(in_.q) && lies(in_.k) && lies(in_.v);
  }
  void blocks(int64_t begin, int64_t end) const {
    Readable<T> q(in_.q), k(in_.k), v(in_.v);
    const Scratch<C> scratch(checked_multiply(blocks_.height(), blocks_.columns()));
    const BlockSoftmax<C> softmax(in_, setting_, rows_, blocks_);
    const bool few = reads_in_place();
    for (int64_t item = begin; item < end; ++item) {
      const RowBlock block = blocks_.at(item / blocks_.per_head(), item % blocks_.per_head());
      const Matrix<C> scores = row_major(scratch.data(), block.rows, block.columns);
      const auto rows_of = [&](const auto& m) { return m.block(block.first, 0, block.rows, m.columns); };
      const auto columns_of = [&](const auto& m) { return m.block(0, 0, block.columns, m.columns); };
      if (few)
        score_keys<T>(rows_of(whole(in_.q, block)), columns_of(whole(in_.k, block)), scores);
      else
        gemm<C>(rows_of(q.at(block.batch)), columns_of(k.at(block.batch)).transposed(), scores);
      softmax.forward(block, scratch.data(), block.columns);
      const Writable<T> to(rows_of(matrix_of<T>(out_, block.batch)));
      if (few)
        sum_values<T>(scores, columns_of(whole(in_.v, block)), to.matrix());
      else
        gemm<C>(scores, columns_of(v.at(block.batch)), to.matrix());
      to.finish();
    }
  }

  const AttentionInputs in_;
  const AttentionSetting& setting_;
  const Operand& out_;
  const AttentionRows rows_;
  const Blocks blocks_;
};

template <class T> class Backward {
 public:
  using C = Compute<T>;
  Backward(const Operand& g, const AttentionInputs& in, const AttentionSetting& setting, const AttentionRows& rows,
           const AttentionGradients& out)
      : g_(g), in_(in), setting_(setting), rows_(rows), out_(out), blocks_(in, setting.causal) {}

  void run() const {
    const int64_t depth = in_.q.size(in_.q.rank() - 1) + g_.size(g_.rank() - 1);
    const int64_t work = blocks_.height() * blocks_.per_head() * (blocks_.columns() + 1) * (2 * depth + 16) + 1;
    parallel_for(batch_count(in_.q), std::max<int64_t>(1, 200000 / work),
                 [&](int64_t begin, int64_t end) { heads(begin, end); });
  }

 private:
  void heads(int64_t begin, int64_t end) const {
    Readable<T> g(g_), q(in_.q), k(in_.k), v(in_.v);
    const int64_t size = checked_multiply(blocks_.height(), blocks_.columns());
    const Scratch<C> p(size), dp(size);
    const BlockSoftmax<C> softmax(in_, setting_, rows_, blocks_);
    for (int64_t batch = begin; batch < end; ++batch) {
      const Writable<T> dq(matrix_of<T>(out_.dq, batch)), dk(matrix_of<T>(out_.dk, batch)),
          dv(matrix_of<T>(out_.dv, batch));
      // From the last block, which attends to most keys: it writes the gradients to which the others add.
      int64_t written = 0;
      for (int64_t index = blocks_.per_head() - 1; index >= 0; --index) {
        const RowBlock block = blocks_.at(batch, index);
        const Head head{q.at(batch), k.at(batch), v.at(batch), g.at(batch), dq.matrix(), dk.matrix(), dv.matrix()};
        add_block(block, head, p.data(), dp.data(), softmax, written > 0);
        written = std::max(written, block.columns);
      }
      const int64_t rest = blocks_.columns() - written;
      for (const Matrix<C>& m : {dk.matrix(), dv.matrix()}) clear(m.block(written, 0, rest, m.columns));
      dq.finish();
      dk.finish();
      dv.finish();
    }
  }

  struct Head {
    Matrix<const C> q, k, v, g;
    Matrix<C> dq, dk, dv;
  };

  static void add_block(const RowBlock& block, const Head& head, C* p, C* dp, const BlockSoftmax<C>& softmax,
                        bool accumulate) {
    const auto rows_of = [&](auto m) { return m.block(block.first, 0, block.rows, m.columns); };
    const auto columns_of = [&](auto m) { return m.block(0, 0, block.columns, m.columns); };
    const Matrix<C> scores = row_major(p, block.rows, block.columns), slopes = row_major(dp, block.rows, block.columns);
    gemm<C>(rows_of(head.q), columns_of(head.k).transposed(), scores);
    gemm<C>(rows_of(head.g), columns_of(head.v).transposed(), slopes);
    softmax.backward(block, p, dp, block.columns);
    gemm<C>(slopes, columns_of(head.k), rows_of(head.dq));
    gemm<C>(slopes.transposed(), rows_of(head.q), columns_of(head.dk), accumulate);
    gemm<C>(scores.transposed(), rows_of(head.g), columns_of(head.dv), accumulate);
  }

  const Operand& g_;
  const AttentionInputs in_;
  const AttentionSetting& setting_;
  const AttentionRows rows_;
  const AttentionGradients out_;
  const Blocks blocks_;
};

/// Whether products of bf16 are faster than those of f32, and worth their padding.
bool takes_bf16(const Operand& q) {
  return q.dtype == DType::bf16 && !loops_forced() && q.size(q.rank() - 2) >= 16 &&
         (amx::available() || bf16::has_fast_instruction());
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Attention::cpu(const Operand& q, const Operand& k, const Operand& v, const Operand& mask, const Operand& out,
                        const Operand& largest, const Operand& factor) const {
  if (takes_bf16(q)) return bf16_attention({q, k, v, mask}, setting, out, {largest, factor});
  visit_floating(out.dtype, [&]<class T>() { Forward<T>({q, k, v, mask}, setting, out, {largest, factor}).run(); });
}

void op::AttentionBackward::cpu(const Operand& g, const Operand& q, const Operand& k, const Operand& v,
                                const Operand& mask, const Operand& largest, const Operand& factor, const Operand& dq,
                                const Operand& dk, const Operand& dv) const {
  if (takes_bf16(q)) return bf16_attention_backward(g, {q, k, v, mask}, setting, {largest, factor}, {dq, dk, dv});
  visit_floating(g.dtype, [&]<class T>() {
    Backward<T>(g, {q, k, v, mask}, setting, {largest, factor}, {dq, dk, dv}).run();
  });
}

}  // namespace weft
