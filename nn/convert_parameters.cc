#include "nn/convert_parameters.h"

#include "autograd/grad_mode.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/view.h"

namespace weft::nn {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  ErrorFrame frame("parameters_to_vector", std::span<const Tensor>(parameters));
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters) parts.push_back(flatten(parameter));
  return cat(parts);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  ErrorFrame frame("vector_to_parameters", vector);
  int64_t total = 0;
  for (const Tensor& parameter : parameters) total += parameter.numel();
  if (vector.rank() != 1 || vector.numel() != total)
    throw ShapeError(text("the parameters have ", total, " elements together, the vector has shape ", vector.shape()));
  const NoGrad guard;
  int64_t at = 0;
  for (Tensor parameter : parameters) {
    parameter.copy_(reshape(narrow(vector, 0, at, parameter.numel()), parameter.shape()));
    at += parameter.numel();
  }
}

}  // namespace weft::nn
