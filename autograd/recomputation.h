// Recomputation: an op's output that is computed again in backward instead of being kept.
//
// linear(gelu(x), w) reads gelu's output for the gradient of w, and gelu's own rule keeps x. Keeping both costs twice
// the memory; computing gelu again costs a pass. So where an op's input comes, through views or at once, from an op
// that is marked with recomputed_inputs (rule.h) and whose own inputs are kept as memory, the op keeps a Recomputation
// of it. So does a product of a parameter that Autocast has cast: the parameter is there in any case, its copy in 16
// bits need not be. The result is the same to the bit, as it is the same kernel on the same input; a write to that
// input since is noticed as usual.
#pragma once

#include <utility>

#include "autograd/node.h"

namespace weft::autograd {

class OpNode;

class Recomputation {
 public:
  Recomputation() = default;
  /// Empty where the tensor at the end of `edge` has to be kept.
  static Recomputation of(const Edge& edge);
  Recomputation(Recomputation&& other) noexcept : maker_(std::move(other.maker_)) {}
  Recomputation& operator=(Recomputation&& other) noexcept {
    std::swap(maker_, other.maker_);
    return *this;
  }
  ~Recomputation();

  bool empty() const { return !maker_; }
  /// The output as the op made it, computed again, without history.
  Tensor run() const;

 private:
  explicit Recomputation(OpNode& maker);
  IntrusivePtr<OpNode> maker_;
};

}  // namespace weft::autograd
