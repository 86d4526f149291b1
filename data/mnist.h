// MNIST and datasets of the same format (Fashion-MNIST, KMNIST): 28 x 28 images of handwritten digits or similar.
#pragma once

#include <string>

#include "data/tensor_dataset.h"

namespace weft::data {

/// Reads `{train,t10k}-{images-idx3,labels-idx1}-ubyte`, plain or `.gz`, from `folder`. Images are f32 (count, 1,
/// height, width) in [0, 1], labels are i64 (count). IoError, with the path, if a file is missing or malformed.
TensorDataset<2> mnist(const std::string& folder, Split split);

}  // namespace weft::data
