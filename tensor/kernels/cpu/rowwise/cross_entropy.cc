#include "tensor/ops/cross_entropy.h"

#include <cmath>

#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/reduce/column_math.h"
#include "tensor/kernels/cpu/reduce/row_groups.h"

namespace weft::kernels::cpu {
namespace {

using op::CrossEntropyRows;
constexpr int64_t kClassAxis = 1;

/// The class weights: 1 where there are none.
class ClassWeights {
 public:
  ClassWeights(const Operand& weight, int64_t classes) : values_(weight, classes, 1), uniform_(!weight.defined()) {
    for (int64_t i = 0; i < classes; ++i) total_ += values_[i];
  }
  double operator[](int64_t i) const { return values_[i]; }
  double total() const { return total_; }
  bool uniform() const { return uniform_; }

 private:
  SmallOperand<double> values_;
  double total_ = 0;
  bool uniform_;
};

/// One scalar of a floating operand per row.
template <class F> void write_scalars(const Operand& out, int64_t count, const F& value) {
  visit_floating(out.dtype, [&]<class T>() {
    const RowView view(out, out.rank(), out.rank());
    parallel_for(count, 16384, [&](int64_t begin, int64_t end) {
      if (view.outer.rank <= 1) {
        const int64_t step = view.outer.rank > 0 ? view.outer.inner().in : 0;
        for (int64_t i = begin; i < end; ++i) out.data<T>()[i * step] = convert<T>(value(i));
        return;
      }
      NestWalk walk(view.outer, begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) out.data<T>()[walk.in()] = convert<T>(value(i));
    });
  });
}

/// forward() of logits whose rows are interleaved in memory (classes not contiguous), without smoothing.
template <class T>
bool forward_in_columns(const RowView& rows, const int64_t* targets, const ClassWeights& weights,
                        const CrossEntropyRows& options, double* loss) {
  if (!in_columns<T>(rows) || options.label_smoothing != 0) return false;
  for_columns<T>(rows, [&](int64_t row, auto count) {
    const Columns<T, decltype(count)> z(rows, row, count);
    const auto largest = column_max(z);
    const auto log_sum = column_exp(z, largest, [](auto...) {}).log();
    for (int k = 0; k < count; ++k) {
      const int64_t target = targets[row + k];
      loss[row + k] = 0;
      if (target == options.ignore_index) continue;
      const double below = static_cast<double>(z.data[target * z.step + k]) - static_cast<double>(largest[k]);
      loss[row + k] = weights[target] * (static_cast<double>(log_sum[k]) - below);
    }
  });
  return true;
}

/// backward() likewise.
template <class T>
bool backward_in_columns(const SmallOperand<double>& scale, const RowView& rows, const int64_t* targets,
                         const ClassWeights& weights, const CrossEntropyRows& options, const RowView& to) {
  using C = Compute<T>;
  if (!in_columns<T>(rows, to) || options.label_smoothing != 0) return false;
  for_columns<T>(rows, [&](int64_t row, auto count) {
    const Columns<T, decltype(count)> z(rows, row, count), dz(to, row, count);
    constexpr int kWidth = simd::kLanes<C>;
    C at_target[kWidth] = {};
    int32_t own[kWidth];
    for (int k = 0; k < kWidth; ++k) own[k] = -1;
    for (int k = 0; k < count; ++k) {
      const int64_t target = targets[row + k];
      if (target == options.ignore_index) continue;
      at_target[k] = static_cast<C>(scale[row + k] * weights[target]), own[k] = static_cast<int32_t>(target);
    }
    const auto at = simd::load<C>(at_target);
    const auto largest = column_max(z);
    if constexpr (std::is_same_v<T, C>) {
      C counted[kWidth];
      for (int k = 0; k < kWidth; ++k) counted[k] = own[k] >= 0 ? 1 : 0;
      const auto counts = simd::load<C>(counted) != 0;
      const auto factor = column_exp(z, largest, [&](int64_t j, auto, auto e) { dz.put(j, e); }).inverse() * at;
      for (int64_t j = 0; j < z.length; ++j)
        dz.put(j, vmath::select(counts, dz.at(j) * factor, simd::Vec<C>{}));  // what is ignored may be NaN
      for (int k = 0; k < count; ++k)
        if (own[k] >= 0) dz.data[own[k] * dz.step + k] -= at_target[k];
    } else {  // exponentials again, as the result is rounded once
      const auto factor = column_exp(z, largest, [](auto...) {}).inverse() * at;
      const auto target = simd::load<int32_t, kWidth>(own);
      for (int64_t j = 0; j < z.length; ++j) {
        const auto share = vmath::exp_below(z.at(j) - largest) * factor;
        const auto here = target == simd::splat<int32_t, kWidth>(static_cast<int32_t>(j));
        dz.put(j, vmath::select(target >= 0, share - (here ? at : simd::Vec<C>{}), simd::Vec<C>{}));
      }
    }
  });
  return true;
}

/// x as exponentials below the largest of each row, 0 past the ends; returns their sums.
template <class C, int kParts>
WEFT_SIMD RowDoubles exponentials(RowGroup<C, kParts>& x, const RowValues<C>& largest, int64_t length) {
  x.each([&](int k, int p) { return x.kept(vmath::exp_below(x.rows[k][p] - largest[k]), p, length); });
  return group_sum(x, adds_together<C>(length));
}

/// forward() of few classes, without smoothing.
template <class T>
bool forward_in_groups(const RowView& rows, const int64_t* targets, const ClassWeights& weights,
                       const CrossEntropyRows& options, double* loss) {
  using C = Compute<T>;
  const int64_t classes = rows.length();
  if (classes > kGroupedRow<C> || options.label_smoothing != 0) return false;
  const auto run = [&]<int kParts, class Reader, class>(int64_t first, int64_t last) {
    constexpr int64_t kRowLanes = kParts * simd::kLanes<C>;
    Reader reader(rows, first, last);
    for (int64_t i = first; i < last; i += kGroupRows) {
      const int64_t held = std::min<int64_t>(kGroupRows, last - i);
      RowGroup<C, kParts> z;
      z.read(reader, held, classes);
      C logits[kGroupRows * kRowLanes];
      z.store(logits);
      const RowValues<C> largest = group_max(z, classes);
      double log_sums[kGroupRows];
      simd::store<double>(log_sums, group_log<C>(exponentials(z, largest, classes)));
      for (int64_t k = 0; k < held; ++k) {
        const int64_t target = targets[i + k];
        if (target == options.ignore_index) {
          loss[i + k] = 0;
          continue;
        }
        const double below =
            static_cast<double>(logits[k * kRowLanes + target]) - static_cast<double>(largest.values[k]);
        loss[i + k] = weights[target] * (log_sums[k] - below);
      }
    }
  };
  for_group_ranges<T>(rows.count(), classes, run, rows);
  return true;
}

/// backward() likewise.
template <class T>
bool backward_in_groups(const SmallOperand<double>& scale, const RowView& rows, const int64_t* targets,
                        const ClassWeights& weights, const CrossEntropyRows& options, const RowView& to) {
  using C = Compute<T>;
  using Index = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
  const int64_t classes = rows.length();
  if (classes > kGroupedRow<C> || options.label_smoothing != 0) return false;
  const auto run = [&]<int kParts, class Reader, class Writer>(int64_t first, int64_t last) {
    constexpr int kWidth = simd::kLanes<C>;
    Reader reader(rows, first, last);
    Writer writer(to, first, last);
    simd::Vec<Index> lane{};
    for (int l = 0; l < kWidth; ++l) lane[l] = static_cast<Index>(l);
    for (int64_t i = first; i < last; i += kGroupRows) {
      const int64_t held = std::min<int64_t>(kGroupRows, last - i);
      RowGroup<C, kParts> z;
      z.read(reader, held, classes);
      double shares[kGroupRows] = {};
      RowValues<Index> own;
      for (int64_t k = 0; k < kGroupRows; ++k) {
        const bool counts = k < held && targets[i + k] != options.ignore_index;
        own.values[k] = counts ? static_cast<Index>(targets[i + k]) : Index(-1);
        if (counts) shares[k] = scale[i + k] * weights[targets[i + k]];
      }
      const auto at_target = simd::load<double>(shares);
      const RowDoubles sums = exponentials(z, group_max(z, classes), classes);
      const RowValues<C> factor(at_target / sums), at(at_target);
      z.each([&](int k, int p) {
        const auto share = z.rows[k][p] * factor[k],
                   here = lane + static_cast<Index>(p * kWidth) == own[k] ? at[k] : simd::Vec<C>{};
        return vmath::select(own[k] >= 0, share - here, simd::Vec<C>{});  // what is ignored may be NaN
      });
      z.write(writer, held, classes);
    }
  };
  for_group_ranges<T>(rows.count(), classes, run, rows, to);
  return true;
}

template <class T>
void forward(const Operand& logits, const int64_t* targets, const ClassWeights& weights,
             const CrossEntropyRows& options, double* loss) {
  using C = Compute<T>;
  const RowView rows(logits, kClassAxis);
  if (forward_in_columns<T>(rows, targets, weights, options, loss)) return;
  if (forward_in_groups<T>(rows, targets, weights, options, loss)) return;
  const int64_t classes = rows.length();
  const double smooth = options.label_smoothing / static_cast<double>(classes), sharp = 1.0 - options.label_smoothing;
  const auto run = [&]<class Reader, class>(int64_t begin, int64_t end) {
    Reader reader(rows, begin, end);
    for (int64_t i = begin; i < end; ++i, reader.next()) {
      const int64_t target = targets[i];
      loss[i] = 0;
      if (target == options.ignore_index) continue;
      const auto* z = reader.row();
      const C largest = row_max(z, classes);
      const double log_sum = std::log(row_exp(z, classes, largest, [](auto...) {}));
      const auto minus_log = [&](int64_t c) {
        return log_sum - (static_cast<double>(z[c]) - static_cast<double>(largest));
      };
      if (sharp != 0) loss[i] = sharp * weights[target] * minus_log(target);
      if (smooth == 0) continue;
      double spread = 0;  // the weighted sum of minus_log
      if (weights.uniform())
        // In double: logits that are masked with the lowest number of f32 must not overflow.
        spread = static_cast<double>(classes) * log_sum -
                 sum_in_double(z, classes, [&](auto v) { return v - static_cast<double>(largest); });
      else
        for (int64_t c = 0; c < classes; ++c) spread += weights[c] * minus_log(c);
      loss[i] += smooth * spread;
    }
  };
  for_row_ranges<T>(rows.count(), row_grain(classes), run, rows);
}

template <class T>
void backward(const SmallOperand<double>& scale, const Operand& logits, const int64_t* targets,
              const ClassWeights& weights, const CrossEntropyRows& options, const Operand& dlogits) {
  using C = Compute<T>;
  const RowView rows(logits, kClassAxis), to(dlogits, kClassAxis);
  if (backward_in_columns<T>(scale, rows, targets, weights, options, to)) return;
  if (backward_in_groups<T>(scale, rows, targets, weights, options, to)) return;
  const int64_t classes = rows.length();
  const double smooth = options.label_smoothing / static_cast<double>(classes), sharp = 1.0 - options.label_smoothing;
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    Reader reader(rows, begin, end);
    Writer writer(to, begin, end);
    const RowBuffer<T> buffer(classes);
    for (int64_t i = begin; i < end; ++i, reader.next(), writer.next()) {
      auto* row = writer.row();
      C* dz = buffer.elements(row);
      const int64_t target = targets[i];
      if (target == options.ignore_index) {
        std::fill_n(dz, classes, C(0));
        buffer.write_to(row);
        continue;
      }
      const auto* z = reader.row();
      const auto lanes = buffer.lanes(row);
      const double sum = row_exp_to(z, classes, row_max(z, classes), lanes);
      const double at_target = sharp * weights[target];
      const C factor = static_cast<C>(scale[i] * (at_target + smooth * weights.total()) / sum);
      const C spread = static_cast<C>(weights.uniform() ? scale[i] * smooth : 0.0);
      for_lanes<C>(classes, [&](int64_t j, auto count) {
        put_lanes(lanes + j, lanes_at(lanes + j, count) * factor - spread, count);
      });
      if (!weights.uniform() && smooth != 0)
        for (int64_t c = 0; c < classes; ++c) dz[c] -= static_cast<C>(scale[i] * smooth * weights[c]);
      dz[target] -= static_cast<C>(scale[i] * at_target);
      buffer.write_to(row);
    }
  };
  for_row_ranges<T>(rows.count(), row_grain(classes), run, rows, to);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::CrossEntropy::cpu(const Operand& logits, const Operand& targets, const Operand& weight, const Operand& loss,
                           const Operand& count) const {
  const int64_t classes = logits.size(kClassAxis), rows = targets.numel();
  const IndexList list = IndexList::of_classes(targets, classes, ignore_index);
  if (rows == 0) return;
  const ClassWeights weights(weight, classes);
  const Scratch<double> losses(rows);
  if (classes == 0)
    std::fill_n(losses.data(), rows, 0.0);  // every target is ignored
  else
    visit_floating(logits.dtype, [&]<class T>() { forward<T>(logits, list.data(), weights, *this, losses.data()); });
  write_scalars(loss, rows, [&](int64_t i) { return losses.data()[i]; });
  write_scalars(count, rows, [&](int64_t i) { return list.data()[i] == ignore_index ? 0.0 : weights[list.data()[i]]; });
}

void op::CrossEntropyBackward::cpu(const Operand& scale, const Operand& logits, const Operand& targets,
                                   const Operand& weight, const Operand& out) const {
  const int64_t classes = logits.size(kClassAxis);
  const IndexList list = IndexList::of_classes(targets, classes, ignore_index);
  if (logits.numel() == 0) return;
  const ClassWeights weights(weight, classes);
  const SmallOperand<double> scales(scale, scale.numel(), 0);
  visit_floating(logits.dtype, [&]<class T>() { backward<T>(scales, logits, list.data(), weights, *this, out); });
}

}  // namespace weft
