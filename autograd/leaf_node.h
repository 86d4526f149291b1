// Leaf: the node of a tensor that accumulates a gradient.
#pragma once

#include <mutex>

#include "autograd/node.h"

namespace weft::autograd {

class Leaf final : public Node {
 public:
  explicit Leaf(const Tensor& tensor);

  std::span<const Edge> edges() const override { return {}; }
  int output_count() const override { return 1; }
  const Meta* meta(int) const override { return &meta_; }
  Gradients run(Gradients gradients) override;  // accumulates, and calls the post-accumulate hooks
  void free_saved() override {}
  std::string name() const override { return name_.empty() ? "leaf" : name_; }

  Tensor gradient(int index) const override;
  void set_gradient(int index, const Tensor& gradient) override;
  void retain_gradient(int) override {}
  int add_accumulated_hook(AccumulatedHook hook) override;
  void set_requires_grad(bool value) override { requires_grad_ = value; }
  void set_name(const std::string& name) override { name_ = name; }
  void replaced(const Tensor& leaf) override;
  /// Sets the buffer in which gradients are accumulated (gradient_buffer.h); undefined: no buffer.
  void set_buffer(const Tensor& buffer);
  bool has_buffer() const { return buffer_.defined(); }
  /// The buffer if the leaf has no gradient yet, so that a rule may write to it; else undefined.
  Tensor free_buffer() const;
  /// How often modules have registered this leaf. Those that were destroyed since count too.
  int64_t registrations() const { return registrations_; }
  void count_registration() { ++registrations_; }

 private:
  /// `gradient` in memory that this leaf owns: the leaf's buffer, or without a buffer a dense storage in the leaf's
  /// memory order that nothing else uses.
  Tensor owned(Tensor gradient) const;
  /// Adds `gradient` to the leaf's gradient and returns the sum.
  Tensor accumulate(Tensor gradient);

  /// Whether a gradient may have what `x` has: the leaf's shape, dtype and device.
  bool fits(const Tensor& x) const;
  /// What does, for errors.
  std::string wanted() const;
  [[noreturn]] void throw_unfit(const Tensor& gradient) const;

  Meta meta_;
  Device device_;
  View order_;  // the leaf's memory order
  /// Held while gradient_ is read or changed. Recursive, as an observer of the addition may ask for the gradient.
  mutable std::recursive_mutex adding_;
  Tensor gradient_;
  Tensor buffer_;
  std::string name_;
  int64_t registrations_ = 0;
};

}  // namespace weft::autograd
