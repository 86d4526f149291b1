// The header of a .npy file: a Python dict, read by a parser that accepts only this dict.
#pragma once

#include <string>
#include <string_view>

#include "tensor/core/dtype.h"
#include "tensor/core/shape.h"

namespace weft::io::detail {

struct NpyHeader {
  DType dtype = DType::f32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

/// Parses the dict: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`. Throws IoError.
NpyHeader parse_npy_header(std::string_view dict);

/// Magic, version, length and dict, padded to a multiple of 64. Throws DtypeError for bf16.
std::string write_npy_header(DType dtype, const Shape& shape);

}  // namespace weft::io::detail
