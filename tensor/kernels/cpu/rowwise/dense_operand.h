// Operands as contiguous arrays: as they lie, or copied; and rows of halves widened.
#pragma once

#include <algorithm>
#include <optional>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"

namespace weft::kernels::cpu {

/// An input as contiguous values of Compute<T>; null where it is undefined.
template <class T> class Whole {
 public:
  explicit Whole(const Operand& x) {
    if (!x.defined() || x.numel() == 0) return;
    view_.emplace(x, 0, x.rank() - 1);
    reader_.emplace(*view_, 0, 1);
    data_ = reader_->row();
  }
  const Compute<T>* data() const { return data_; }

 private:
  std::optional<RowView> view_;
  std::optional<RowReader<T>> reader_;
  const Compute<T>* data_ = nullptr;
};

/// An operand as contiguous values of its dtype, copied if it is not contiguous; null where it is undefined or empty.
template <class T> class Dense {
 public:
  explicit Dense(const Operand& x, bool wanted = true) : x_(x) {
    if (!wanted || !x.defined() || x.numel() == 0) return;
    if (x.view->is_contiguous()) {
      data_ = x.data<T>();
    } else {
      copy_.emplace(x.numel());
      view_ = View::contiguous(x.shape());
      data_ = copy_->data();
    }
  }
  T* data() const { return data_; }

 protected:
  bool is_copy() const { return copy_.has_value(); }
  Operand copied() const { return {data_, &view_, x_.dtype, x_.device}; }
  const Operand x_;

 private:
  std::optional<Scratch<T>> copy_;
  View view_;
  T* data_ = nullptr;
};

template <class T> class DenseInput : Dense<T> {
 public:
  explicit DenseInput(const Operand& x) : Dense<T>(x) {
    if (this->is_copy()) copy(this->x_, this->copied());
  }
  const T* data() const { return Dense<T>::data(); }
};

/// The same for an output, copied to its memory at the end; null as well where the output is not needed.
template <class T> class DenseOutput : Dense<T> {
 public:
  explicit DenseOutput(const Operand& x, bool wanted = true) : Dense<T>(x, wanted) {}
  ~DenseOutput() {
    if (this->is_copy()) copy(this->copied(), this->x_);
  }
  DenseOutput(const DenseOutput&) = delete;
  DenseOutput& operator=(const DenseOutput&) = delete;
  using Dense<T>::data;
};

/// Rows of T as what is computed in: as they lie, or widened into a buffer.
template <class T> class WideRow {
 public:
  /// (At least one element: clang's analyzer takes memory for none.)
  explicit WideRow(int64_t count) : count_(count), buffer_(is_half<T> ? std::max<int64_t>(count, 1) : 0) {}
  const Compute<T>* operator()(const T* row) const {
    if constexpr (is_half<T>)
      return widen(row, buffer_.data(), count_), buffer_.data();
    else
      return row;
  }

 private:
  int64_t count_;
  Scratch<Compute<T>> buffer_;
};

/// Where to compute a row of T: where it lies, or `buffer`. put() brings it there.
template <class T> Compute<T>* place_for(T* row, Compute<T>* buffer) {
  if constexpr (is_half<T>)
    return buffer;
  else
    return row == nullptr ? buffer : row;
}
template <class T> void put(const Compute<T>* values, int64_t count, T* row) {
  if (row != nullptr && static_cast<const void*>(values) != row) copy_run(values, row, count);
}

/// `given`, or memory of its own where that is null.
template <class C> class OrScratch {
 public:
  OrScratch(C* given, int64_t count)
      : own_(given == nullptr ? count : 0), data_(given == nullptr ? own_.data() : given) {}
  C* data() const { return data_; }

 private:
  Scratch<C> own_;
  C* data_;
};

}  // namespace weft::kernels::cpu
