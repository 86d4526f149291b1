// Copies of many tensors at once: how weights are kept and given back.
#pragma once

#include <vector>

#include "tensor/functions/copy.h"
#include "tensor/tensor.h"

namespace weft::optim {

inline std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) out.push_back(clone(x.detach()));
  return out;
}

/// Copies the values of each tensor into its counterpart.
inline void copy_all(const std::vector<Tensor>& from, const std::vector<Tensor>& to) {
  for (size_t i = 0; i < from.size(); ++i) Tensor(to[i]).copy_(from[i]);
}

}  // namespace weft::optim
