#include "nn/update_bn.h"

#include "nn/module/module_state.h"

namespace weft::nn::detail {

FreshStatistics::FreshStatistics(const Module& model) {
  for (NamedModule& entry : model.modules()) {
    modes_.emplace_back(std::move(entry.module), false);
    Module& module = modes_.back().first;
    modes_.back().second = module.is_training();
    // The averages of other modules are left alone, as in PyTorch.
    if (!module.state().is_batch_norm) continue;
    for (const auto& buffer : module.state().buffers) {
      Tensor statistics = buffer.tensor;
      if (buffer.name == "running_mean" || buffer.name == "num_batches_tracked") statistics.fill_(0);
      if (buffer.name == "running_var") statistics.fill_(1);
    }
  }
  if (!modes_.empty()) modes_.front().first.train();
}

FreshStatistics::~FreshStatistics() {
  for (auto& [module, training] : modes_) module.train(training);  // parents first
}

}  // namespace weft::nn::detail
