// .npy: one array per file, NumPy's own format. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Reads versions 1 to 3, little- and big-endian, C and Fortran order, of f32 f64 f16 i64 i32 i16 i8 u8 bool; the
/// result is row-major. IoError, naming the path, for any other element type (Python objects above all), a header that
/// is malformed or above 10,000 bytes (NumPy's own limit), and a file whose size is not what its shape says.
Tensor load_npy(const std::string& path);

/// Writes version 1.0, row-major, the data at a multiple of 64 bytes, crash-safe (see AtomicFile). Errors: DtypeError
/// for bf16, which NumPy does not have; IoError where the file cannot be written.
void save_npy(const std::string& path, const Tensor& x);

}  // namespace weft::io
