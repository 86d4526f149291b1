// From a dtype to a kernel's instantiation, for the groups of dtypes that kernels accept. An op checks its dtypes with
// a message of its own; what comes here with a wrong one is refused all the same.
#pragma once

#include <cstdint>

#include "tensor/core/dtype.h"
#include "tensor/core/error.h"

namespace weft::kernels::cpu {

[[noreturn]] inline void refuse(DType dtype) { throw DtypeError(text("no kernel for ", dtype)); }

/// f.operator()<T>() for f32, f64, bf16 and f16.
template <class F> void visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    case DType::bf16: return f.template operator()<BFloat16>();
    case DType::f16: return f.template operator()<Float16>();
    default: refuse(dtype);
  }
}

/// f.operator()<T>() for f32 and f64.
template <class F> void visit_precision(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    default: refuse(dtype);
  }
}

/// f.operator()<T>() for i64, i32, i16, i8 and u8.
template <class F> void visit_integer(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i64: return f.template operator()<int64_t>();
    case DType::i32: return f.template operator()<int32_t>();
    case DType::i16: return f.template operator()<int16_t>();
    case DType::i8: return f.template operator()<int8_t>();
    case DType::u8: return f.template operator()<uint8_t>();
    default: refuse(dtype);
  }
}

/// All but bool.
template <class F> void visit_number(DType dtype, F&& f) {
  is_floating(dtype) ? visit_floating(dtype, f) : visit_integer(dtype, f);
}

/// All; bool as the bytes 0 and 1 that it is.
template <class F> void visit_stored(DType dtype, F&& f) {
  dtype == DType::boolean ? f.template operator()<uint8_t>() : visit_number(dtype, f);
}

/// An unsigned integer as large as the elements, for kernels that only move bits.
template <class F> void visit_size(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

}  // namespace weft::kernels::cpu
