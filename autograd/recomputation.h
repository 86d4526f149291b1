// Recomputation: the output of an op that is computed again in backward instead of being saved.
//
// linear(gelu(x), w) needs gelu's output for the gradient of w, and the rule of gelu saves x. Saving both takes twice
// the memory; recomputing gelu takes one pass. So an op saves a Recomputation of an input if this input is the output
// (or a view of it) of an op that is marked with recomputed_inputs (rule.h) and whose own inputs are saved as memory.
// The same holds for a product with a parameter that Autocast has cast: the parameter exists anyway, so its 16-bit copy
// need not be saved. The recomputed output has the same bits, as the same kernel runs on the same input. A write to
// that input before backward is detected as usual. An output whose address was given out (data<T>()) is saved, as code
// outside may have written into it.
//
// What a rule reads for the next derivative only (IfRecording) is recomputed by expensive ops too: the projected input
// of a recurrent layer is as large as all its gates, and almost no run asks for it.
#pragma once

#include <utility>

#include "autograd/node.h"

namespace weft::autograd {

class OpNode;

class Recomputation {
 public:
  Recomputation() = default;
  /// A recomputation of the tensor that `edge` refers to, if its node is recomputable as cheaply as `least`; otherwise
  /// empty: the tensor must be saved.
  static Recomputation of(const Edge& edge, Recomputable least);
  Recomputation(Recomputation&& other) noexcept : maker_(std::move(other.maker_)) {}
  Recomputation& operator=(Recomputation&& other) noexcept {
    std::swap(maker_, other.maker_);
    return *this;
  }
  ~Recomputation();

  bool empty() const { return !maker_; }
  /// Computes the output again; the result has no history.
  Tensor run() const;
  /// Where its memory will be.
  Device device() const;

 private:
  explicit Recomputation(OpNode& maker);
  IntrusivePtr<OpNode> maker_;
};

}  // namespace weft::autograd
