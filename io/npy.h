// .npy, NumPy's file format for one array. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Reads versions 1 to 3, little- and big-endian, C and Fortran order, of f32 f64 f16 i64 i32 i16 i8 u8 bool. The
/// result is row-major. IoError, with the path, for any other element type (in particular Python objects), a header
/// that is malformed or longer than 10,000 bytes (NumPy's limit), or a file whose size does not match its shape.
Tensor load_npy(const std::string& path);

/// Writes version 1.0, row-major, with the data aligned to 64 bytes. A file of this name is replaced at once when the
/// data is complete. DtypeError for bf16, which NumPy does not have; IoError if the file cannot be written.
void save_npy(const std::string& path, const Tensor& x);

}  // namespace weft::io
