// Parameters as one vector, for optimizers and analyses that work on vectors.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::nn {

/// The elements of all parameters, in row-major order, as one differentiable vector. Dtypes promote. Error for an empty
/// list.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Writes the elements of `vector` (n) to the parameters, in the order of parameters_to_vector(). Not recorded.
/// ShapeError, without writing anything, unless the vector has as many elements as the parameters together.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

}  // namespace weft::nn
