// MNIST and data sets of the same form (Fashion-MNIST, KMNIST): handwritten digits, 28 x 28.
#pragma once

#include <string>

#include "data/tensor_dataset.h"

namespace weft::data {

/// Reads `{train,t10k}-{images-idx3,labels-idx1}-ubyte`, plain or `.gz`, from `folder`. Images are f32 (count, 1,
/// height, width) in [0, 1], labels i64. IoError, naming the path, where a file is absent or is not what it should be.
TensorDataset<2> mnist(const std::string& folder, Split split);

}  // namespace weft::data
