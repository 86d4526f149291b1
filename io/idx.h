// IDX, the file format of MNIST and similar datasets; plain or gzipped. http://yann.lecun.com/exdb/mnist/
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Reads u8, i8, i16, i32, f32 and f64 arrays. A gzipped file is recognized by its content. IoError, with the path, if
/// the magic number is wrong, the sizes do not match the number of bytes, or the file is damaged. (Bytes after the
/// compressed data of a gzipped file are ignored, as gzip does.)
Tensor load_idx(const std::string& path);

}  // namespace weft::io
