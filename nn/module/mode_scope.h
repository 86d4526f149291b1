// ModeScope: gives every module of a model its mode back.
#pragma once

#include <vector>

#include "nn/module/module.h"

namespace weft::nn::detail {

/// Holds the modes of a model and of every module in it; the destructor restores them.
class ModeScope {
 public:
  explicit ModeScope(const Module& model) : modules_(model.modules()) {
    for (const NamedModule& entry : modules_) training_.push_back(entry.module.is_training());
  }
  ~ModeScope() {
    for (size_t i = 0; i < modules_.size(); ++i) modules_[i].module.train(training_[i]);  // parents first
  }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

  /// The model first.
  std::vector<NamedModule>& modules() { return modules_; }

 private:
  std::vector<NamedModule> modules_;
  std::vector<bool> training_;
};

}  // namespace weft::nn::detail
