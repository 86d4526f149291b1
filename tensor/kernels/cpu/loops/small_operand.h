// Small operands (weights, statistics, class weights) as dense values, whatever their strides and floating dtype.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {

/// The `count` elements of an operand in row-major order, as C; `absent` for each where the operand is undefined.
template <class C> class SmallOperand {
 public:
  SmallOperand(const Operand& x, int64_t count, C absent) : values_(count) {
    if (!x.defined()) {
      std::fill_n(values_.data(), count, absent);
    } else if (count > 0) {
      visit_floating(x.dtype, [&]<class T>() {
        const RowView view(x, 0, x.rank() - 1);
        RowReader<T> reader(view, 0, 1);
        const Compute<T>* row = reader.row();
        for (int64_t i = 0; i < count; ++i) values_.data()[i] = static_cast<C>(row[i]);
      });
    }
  }
  const C* data() const { return values_.data(); }
  C operator[](int64_t i) const { return values_.data()[i]; }

 private:
  Scratch<C> values_;
};

/// Writes values in row-major order to a small operand.
inline void write_small(const double* values, const Operand& out) {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class T>() {
    const RowView view(out, 0, out.rank() - 1);
    RowWriter<T> writer(view, 0, 1);
    Compute<T>* row = writer.row();
    for (int64_t i = 0; i < out.numel(); ++i) row[i] = static_cast<Compute<T>>(values[i]);
    writer.next();
  });
}

}  // namespace weft::kernels::cpu
