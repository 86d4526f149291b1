#include "autograd/formula.h"

#include "autograd/backward.h"
#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"

namespace weft::autograd {

std::vector<Tensor> differentiate(const Formula& formula, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& gradients, Needs needs) {
  const bool connected = is_recording();
  EnableGrad guard;
  // Each input gets a node of its own, so that a dependence of one input on another is not counted twice.
  std::vector<Tensor> local = inputs, wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !needs[static_cast<int>(i)]) continue;
    const bool linked = connected && inputs[i].requires_grad();
    local[i] = linked ? view(inputs[i].contiguous(), inputs[i].shape()) : parameter(inputs[i].detach());
    wanted.push_back(local[i]);
  }
  // 16-bit tensors are cast to f32, in which the kernels compute too, although this takes memory: in 16 bits a softmax
  // or a variance would lose digits. `wanted` has the 16-bit tensors, so that the gradients have their dtypes.
  for (Tensor& x : local)
    if (x.defined() && is_half_precision(x.dtype())) x = cast(x, f32);
  const std::vector<Tensor> results = formula(local);
  std::vector<Tensor> outputs, seeds;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!gradients[i].defined() || !results[i].defined() || !results[i].requires_grad()) continue;
    outputs.push_back(results[i]);
    seeds.push_back(cast(gradients[i], results[i].dtype()));
  }
  std::vector<Tensor> out(inputs.size());
  if (outputs.empty() || wanted.empty()) return out;
  const std::vector<Tensor> found =
      grad(outputs, wanted, {.create_graph = connected, .allow_unused = true, .seeds = seeds});
  for (size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (inputs[i].defined() && needs[static_cast<int>(i)]) out[i] = found[next++];
  return out;
}

}  // namespace weft::autograd
