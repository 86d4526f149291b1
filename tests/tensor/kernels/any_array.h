// AnyArray: memory of any dtype under a view with strides of any kind, read and written as double.
#pragma once

#include <cstring>
#include <string>

#include "tensor/kernels/cpu/base/convert.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {

inline constexpr DType kAllDtypes[] = {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean};
inline constexpr DType kFloatingDtypes[] = {f32, f64, bf16, f16};
inline constexpr Layout kAllLayouts[] = {Layout::row_major, Layout::permuted, Layout::gaps, Layout::reversed,
                                         Layout::broadcast};
/// Layouts an output may have.
inline constexpr Layout kDistinctLayouts[] = {Layout::row_major, Layout::permuted, Layout::gaps, Layout::reversed};

struct AnyArray {
  std::vector<unsigned char> memory;
  View view;
  DType dtype;

  AnyArray(const Shape& shape, DType type, Layout layout, Random& random) : dtype(type) {
    const Array<char> room = make_array<char>(shape, layout, random);
    view = room.view;
    memory.assign(room.memory.size() * size_of(type), 0);
  }
  Operand operand() { return {memory.data(), &view, dtype}; }
  const Shape& shape() const { return view.shape(); }
  double get(const IntList& index) const {
    return visit_dtype(dtype, [&]<class T>() {
      T value;
      std::memcpy(&value, place(index), sizeof(T));
      return kernels::cpu::convert<double>(value);
    });
  }
  void set(const IntList& index, double x) {
    visit_dtype(dtype, [&]<class T>() {
      const T value = kernels::cpu::convert<T>(x);
      std::memcpy(const_cast<unsigned char*>(place(index)), &value, sizeof(T));
    });
  }
  /// Every element from f(); elements that share memory keep the last value.
  template <class F> AnyArray& fill(F&& f) {
    for_each_index(shape(), [&](const IntList& index) { set(index, f()); });
    return *this;
  }

 private:
  const unsigned char* place(const IntList& index) const {
    return memory.data() + static_cast<size_t>(view.linear_index(index)) * size_of(dtype);
  }
};

/// What rounding to `dtype` may lose, relatively.
inline double precision_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-14;
    case DType::f32: return 3e-7;
    case DType::bf16: return 4e-3;
    case DType::f16: return 5e-4;
    default: return 0;
  }
}

/// `x` as `dtype` holds it.
inline double rounded(double x, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() { return kernels::cpu::convert<double>(kernels::cpu::convert<T>(x)); });
}

/// Whether `got` is `want` up to a relative and an absolute tolerance: NaN for NaN, infinities exactly.
inline bool close(double got, double want, double tolerance, double absolute = 0) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  if (std::isinf(want) || std::isinf(got)) return false;
  return std::fabs(got - want) <= tolerance * std::fabs(want) + absolute;
}

}  // namespace weft::testing
