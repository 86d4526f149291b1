#include "nn/update_bn.h"

#include "nn/module/module_state.h"

namespace weft::nn::detail {

FreshStatistics::FreshStatistics(const Module& model) : modes_(model) {
  for (const auto& [name, module] : modes_.modules()) {
    // The averages of other modules are left alone, as in PyTorch.
    if (!module.state().is_batch_norm) continue;
    for (const auto& buffer : module.state().buffers) {
      Tensor statistics = buffer.tensor;
      if (buffer.name == "running_mean" || buffer.name == "num_batches_tracked") statistics.fill_(0);
      if (buffer.name == "running_var") statistics.fill_(1);
    }
  }
  modes_.modules().front().module.train();
}

}  // namespace weft::nn::detail
