// Averages of a model's weights over training steps: exponential (Ema) and equally weighted (Swa; Izmailov et al.,
// arXiv 1803.05407).
#pragma once

#include <utility>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

/// A model: a type with parameters() and buffers().
template <class T>
concept HasWeights = requires(const T& model) {
  model.parameters(), model.buffers();
};

struct AverageOptions {
  /// Also averages floating buffers (such as the running statistics of batch norm) instead of ignoring them. Not for
  /// models with spectral_norm: its buffers are unit vectors, and an average of these is shorter.
  bool buffers = false;
};

/// Base of Ema and Swa. It holds averages of some tensors; update() moves each average toward the tensor's current
/// value. Averages of 16-bit tensors are kept in f32, because in 16 bits a relative change of a thousandth would be
/// rounded away.
class Average {
 public:
  virtual ~Average() = default;
  Average(const Average&) = delete;
  Average& operator=(const Average&) = delete;

  /// While this object is alive, the tensors hold the averages. The destructor restores their own values, and those of
  /// the model's other buffers, which nn::update_bn() may have made fit the averages.
  class Applied {
   public:
    ~Applied();
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;

   private:
    friend class Average;
    explicit Applied(Average& average);
    Average& average_;
    std::vector<Tensor> saved_, others_;
  };

  /// Includes the current values in the averages; the first call copies them. Error while an Applied object is alive.
  /// One that throws, as where memory runs out, has included a part of them: the next call includes the others.
  void update();
  /// `auto averaged = average.applied();` gives the model the averaged weights until the end of the scope. The Average
  /// must outlive the result. Error if another Applied object is alive.
  [[nodiscard]] Applied applied() { return Applied(*this); }
  /// Copies the averages into the model permanently. Error while an Applied object is alive.
  void copy_to_model();
  /// Whether an Applied object is alive.
  bool is_applied() const { return is_applied_; }
  /// The number of calls of update() that did not throw.
  int64_t updates() const { return updates_; }
  /// The averages, in the order of the model's parameters (and buffers).
  const std::vector<Tensor>& averages() const { return averages_; }

  /// The averages and the number of updates. state_dict() shares the averages' memory; clone_state() copies it.
  /// load_state_dict() copies; it throws an Error, without changing anything, if the state does not fit.
  State state_dict() const;
  State clone_state() const;
  void load_state_dict(const State& state);

 protected:
  /// The averages start as the tensors' values. `others` are buffers that are not averaged.
  explicit Average(std::vector<Tensor> tensors, std::vector<Tensor> others = {});
  /// The parameters of a model, and its floating buffers if `options.buffers`.
  template <HasWeights Model> static std::vector<Tensor> tensors_of(const Model& model, const AverageOptions& options) {
    std::vector<Tensor> out = model.parameters();
    if (options.buffers)
      for (const auto& buffer : model.buffers())
        if (is_floating(buffer.tensor.dtype())) out.push_back(buffer.tensor);
    return out;
  }
  /// The buffers that tensors_of() leaves out.
  template <HasWeights Model> static std::vector<Tensor> others_of(const Model& model, const AverageOptions& options) {
    std::vector<Tensor> out;
    for (const auto& buffer : model.buffers())
      if (!options.buffers || !is_floating(buffer.tensor.dtype())) out.push_back(buffer.tensor);
    return out;
  }

 private:
  /// The weight of the current values in update() number `update`, counted from 1: average += share (value - average).
  virtual double share(int64_t update) const = 0;

  void copy_averages();

  std::vector<Tensor> tensors_, averages_, others_;
  int64_t updates_ = 0;
  size_t included_ = 0;  // of the tensors, by an update that threw
  bool is_applied_ = false;
};

/// average = decay average + (1 - decay) value. The first update sets the average to the value. Same as PyTorch's
/// AveragedModel with get_ema_avg_fn.
///   optim::Ema average(model, 0.999);
///   ... optimizer.step(); average.update(); ...
///   { auto averaged = average.applied(); evaluate(model); }
class Ema final : public Average {
 public:
  /// Averages a model's parameters, or a list of tensors. Error unless decay is in [0, 1].
  template <HasWeights Model>
  Ema(const Model& model, double decay, const AverageOptions& options = {})
      : Ema(tensors_of(model, options), decay, others_of(model, options)) {}
  Ema(std::vector<Tensor> tensors, double decay) : Ema(std::move(tensors), decay, {}) {}

 private:
  Ema(std::vector<Tensor> tensors, double decay, std::vector<Tensor> others);
  double share(int64_t update) const override;
  double decay_;
};

/// The mean of the values at all updates. Same as PyTorch's AveragedModel.
class Swa final : public Average {
 public:
  template <HasWeights Model>
  explicit Swa(const Model& model, const AverageOptions& options = {})
      : Average(tensors_of(model, options), others_of(model, options)) {}
  explicit Swa(std::vector<Tensor> tensors) : Average(std::move(tensors)) {}

 private:
  double share(int64_t update) const override { return 1.0 / static_cast<double>(update); }
};

}  // namespace weft::optim
