// Placement: where the gradients of a node's inputs are wanted.
//
// The inputs of attention are often views of one tensor, the packed projection of q, k and v. Each view's gradient
// would be a tensor of its own, copied into the gradient of the whole. Instead the engine makes the gradient of the
// whole first and gives the rule the views of it (Into<I>, rule.h): nothing is copied, and the views' nodes have no
// work. A parameter with a gradient buffer (gradient_buffer.h) is such a whole as well.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/node.h"

namespace weft::autograd {

/// An input of a node that is a view of another tensor: that tensor's edge, and the view in its row-major memory.
struct Part {
  Edge whole;
  View view;
};

class Placement {
 public:
  /// Input `input` of `inputs` is `part`. Left out where it overlaps a part that was added before.
  void add(size_t input, size_t inputs, const Part& part, Device device);
  /// Input `input` is a leaf, whose gradient belongs in `buffer`. Left out where the leaf is a whole already.
  void add_leaf(size_t input, size_t inputs, const Edge& leaf, const Tensor& buffer);
  /// Makes the gradients of the wholes that have no buffer: zero where parts leave gaps.
  void allocate();
  /// One Tensor for each input, undefined where none is placed; empty where nothing is.
  std::span<const Tensor> into() const { return into_; }
  /// Whether `gradient`, of input `input`, was written where it is wanted: there is nothing left to add.
  bool took(size_t input, const Tensor& gradient);
  /// Hands over the gradients of the wholes of which a part was written; the other parts of them become zero.
  void finish(const std::function<void(const Edge& whole, Tensor gradient)>& add);

 private:
  struct Placed {
    size_t input;
    View view;
    bool written = false;
  };
  struct Whole {
    Edge edge;
    Device device;
    std::vector<Placed> parts;
    Tensor gradient = {};
  };
  std::vector<Whole>::iterator find(const Edge& edge);

  std::vector<Whole> wholes_;
  std::vector<Tensor> into_;
};

}  // namespace weft::autograd
