// Averages of a model's weights over the steps of training: exponential (Ema) and plain (Swa, Izmailov et al., arXiv
// 1803.05407).
#pragma once

#include <utility>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

/// Any module.
template <class T>
concept HasWeights = requires(const T& model) {
  model.parameters(), model.buffers();
};

struct AverageOptions {
  bool buffers = false;  // averages floating buffers too (batch norm's statistics), instead of leaving them alone
};

/// What Ema and Swa share: the averages of some tensors, which update() brings nearer to the tensors' values. Those of
/// tensors of 16 bits are f32: in 16 bits an average that changes by a thousandth would stand still.
class Average {
 public:
  virtual ~Average() = default;
  Average(const Average&) = delete;
  Average& operator=(const Average&) = delete;

  /// The tensors hold the averages while this lives, and their own values again after.
  class Applied {
   public:
    ~Applied();
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;

   private:
    friend class Average;
    explicit Applied(Average& average);
    Average& average_;
    std::vector<Tensor> saved_;
  };

  /// Takes the present values in: the first call copies them. Error while applied() lives.
  void update();
  /// `auto averaged = average.applied();`: until the end of the scope, the model has the averaged weights. The Average
  /// must outlive it. Error where one lives already.
  [[nodiscard]] Applied applied() { return Applied(*this); }
  /// Copies the averages into the model for good.
  void copy_to_model();
  /// How often update() ran.
  int64_t updates() const { return updates_; }
  /// The averages, in the order of the model's parameters (and buffers).
  const std::vector<Tensor>& averages() const { return averages_; }

  /// The averages and the count; state_dict() shares the averages' memory, clone_state() copies. load_state_dict
  /// copies; Error where it does not fit, with nothing changed.
  State state_dict() const;
  State clone_state() const;
  void load_state_dict(const State& state);

 protected:
  /// The averages begin as the tensors' values.
  explicit Average(std::vector<Tensor> tensors);
  /// Of what a model has.
  template <HasWeights Model> static std::vector<Tensor> tensors_of(const Model& model, const AverageOptions& options) {
    std::vector<Tensor> out = model.parameters();
    if (options.buffers)
      for (const auto& buffer : model.buffers())
        if (is_floating(buffer.tensor.dtype())) out.push_back(buffer.tensor);
    return out;
  }

 private:
  /// The share of the present values in update() number `update`, which counts from 1: average += share (value -
  /// average).
  virtual double share(int64_t update) const = 0;

  std::vector<Tensor> tensors_, averages_;
  int64_t updates_ = 0;
  bool is_applied_ = false;
};

/// average = decay average + (1 - decay) value, from the first update's values on. PyTorch's AveragedModel with
/// get_ema_avg_fn.
///   optim::Ema average(model, 0.999);
///   ... optimizer.step(); average.update(); ...
///   { auto averaged = average.applied(); evaluate(model); }
class Ema final : public Average {
 public:
  /// Of a model's parameters, or of a list of tensors. Error unless decay is in [0, 1].
  template <HasWeights Model>
  Ema(const Model& model, double decay, const AverageOptions& options = {}) : Ema(tensors_of(model, options), decay) {}
  Ema(std::vector<Tensor> tensors, double decay);

 private:
  double share(int64_t update) const override;
  double decay_;
};

/// The mean of the values at all updates. PyTorch's AveragedModel.
class Swa final : public Average {
 public:
  template <HasWeights Model>
  explicit Swa(const Model& model, const AverageOptions& options = {}) : Average(tensors_of(model, options)) {}
  explicit Swa(std::vector<Tensor> tensors) : Average(std::move(tensors)) {}

 private:
  double share(int64_t update) const override { return 1.0 / static_cast<double>(update); }
};

}  // namespace weft::optim
