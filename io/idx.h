// IDX: the format of MNIST and its kin; plain or gzipped. http://yann.lecun.com/exdb/mnist/
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Reads u8, i8, i16, i32, f32 and f64 arrays; a gzipped file is recognised by its content. IoError, naming the path,
/// where the magic number is wrong, the sizes do not multiply to exactly the bytes that are there, or the file is
/// damaged. (What follows the compressed data of a gzipped file is left out, as gzip does.)
Tensor load_idx(const std::string& path);

}  // namespace weft::io
