// Bags of rows of a table: their sums, and where the largest values are.
#include "tensor/ops/embedding_bag.h"

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/index/slice_sums.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kBagGrain = 16384;

/// The bags of a list of indices, without those that are padding: bag b has the positions order[starts[b]] to
/// order[starts[b + 1]] of the list, whose rows of the table begin at `places`.
class Bags {
 public:
  Bags(const Operand& indices, const Operand& weight, const Operand& offsets, int64_t padding)
      : rows_(indices), count_(offsets.numel()), starts_(count_ + 1), order_(rows_.count()), places_(rows_.count()) {
    const IndexList begins(offsets);
    check(begins, weight.size(0));
    int64_t kept = 0, bag = 0;
    for (int64_t i = 0; i < rows_.count(); ++i) {
      while (bag < begins.count() && begins[bag] == i) starts_.data()[bag++] = kept;
      places_.data()[i] = rows_[i] * weight.stride(0);
      order_.data()[kept] = i;
      kept += rows_[i] != padding;
    }
    while (bag <= begins.count()) starts_.data()[bag++] = kept;
  }

  int64_t count() const { return count_; }
  int64_t size(int64_t bag) const { return starts_.data()[bag + 1] - starts_.data()[bag]; }
  const int64_t* order(int64_t bag) const { return order_.data() + starts_.data()[bag]; }
  const int64_t* places() const { return places_.data(); }
  int64_t row(int64_t position) const { return rows_[position]; }
  /// So many bags of rows of `width` are worth a thread.
  int64_t grain(int64_t width) const {
    return std::max<int64_t>(1, kBagGrain * count() / std::max<int64_t>(1, (rows_.count() + count()) * width));
  }

 private:
  void check(const IndexList& begins, int64_t table) const {
    const int64_t total = rows_.count();
    for (int64_t i = 0; i < begins.count(); ++i) {
      const int64_t begin = begins[i], end = i + 1 < begins.count() ? begins[i + 1] : total;
      if (begin < 0 || begin > end || (i == 0 && begin != 0))
        throw IndexError(
            text("bag ", i, " of [", begin, ", ", end, "): offsets begin at 0, rise and end before ", total));
    }
    if (IndexList::all_below(rows_.data(), total, table)) return;
    for (int64_t i = 0; i < total; ++i)
      if (rows_[i] < 0 || rows_[i] >= table)
        throw IndexError(text("index ", rows_[i], " is out of range for ", table, " rows"));
  }

  IndexList rows_;
  int64_t count_;
  Scratch<int64_t> starts_, order_, places_;
};

template <class T, class Scale>
void sum_bags(const Bags& bags, const Operand& weight, const Scale& scale, const Operand& out) {
  const T* table = weight.data<T>();
  T* to = out.data<T>();
  const int64_t width = out.size(1);
  parallel_for(bags.count(), bags.grain(width), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      add_runs(table, weight.stride(1), bags.places(), bags.order(b), bags.size(b), scale,
               static_cast<const T*>(nullptr), to + b * out.stride(0), out.stride(1), width);
  });
}

/// at[j] = which of the runs at from + places[order[k]] has the largest element j; the first of them.
template <class T>
void find_largest(const T* from, int64_t step, const int64_t* places, const int64_t* order, int64_t count, int32_t* at,
                  Compute<T>* best, int64_t width) {
  using C = Compute<T>;
  const T* first = from + places[order[0]];
  for (int64_t j = 0; j < width; ++j) best[j] = static_cast<C>(first[j * step]), at[j] = 0;
  for (int64_t k = 1; k < count; ++k) {
    const T* row = from + places[order[k]];
    for (int64_t j = 0; j < width; ++j) {
      const C v = static_cast<C>(row[j * step]);
      const bool larger = !(v <= best[j]) & (best[j] == best[j]);  // NaN stays
      best[j] = larger ? v : best[j];
      at[j] = larger ? static_cast<int32_t>(k) : at[j];
    }
  }
}

template <class T> void largest_of_bags(const Bags& bags, const Operand& weight, const Operand& out) {
  constexpr int64_t kTile = 256;
  const T* table = weight.data<T>();
  int64_t* to = out.data<int64_t>();
  const int64_t width = out.size(1), step = weight.stride(1), to_step = out.stride(1);
  parallel_for(bags.count(), bags.grain(width), [&](int64_t begin, int64_t end) {
    int32_t at[kTile];
    Compute<T> best[kTile];
    for (int64_t b = begin; b < end; ++b) {
      const int64_t* order = bags.order(b);
      for (int64_t j = 0; j < width; j += kTile) {
        const int64_t columns = std::min(kTile, width - j), count = bags.size(b);
        int64_t* row = to + b * out.stride(0) + j * to_step;
        if (count > 0 && step == 1)
          find_largest(table + j, 1, bags.places(), order, count, at, best, columns);
        else if (count > 0)
          find_largest(table + j * step, step, bags.places(), order, count, at, best, columns);
        for (int64_t i = 0; i < columns; ++i) row[i * to_step] = count > 0 ? bags.row(order[at[i]]) : -1;
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::EmbeddingBag::cpu(const Operand& indices, const Operand& weight, const Operand& offsets,
                           const Operand& factors, const Operand& out) const {
  const Bags bags(indices, weight, offsets, padding_idx);
  visit_number(out.dtype, [&]<class T>() {
    if (factors.defined())
      sum_bags<T>(bags, weight, Scaled<T>{factors.data<T>(), factors.stride(0)}, out);
    else
      sum_bags<T>(bags, weight, AsTheyAre{}, out);
  });
}

void op::EmbeddingBagArgmax::cpu(const Operand& indices, const Operand& weight, const Operand& offsets,
                                 const Operand& out) const {
  const Bags bags(indices, weight, offsets, padding_idx);
  visit_number(weight.dtype, [&]<class T>() { largest_of_bags<T>(bags, weight, out); });
}

}  // namespace weft
