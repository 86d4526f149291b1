// Nest: the axes of nested loops over one input and one output.
#pragma once

#include <cstdint>

#include "tensor/core/shape.h"

namespace weft::kernels::cpu {

/// One axis of a nest: how many steps, and how far a step goes in the input and in the output (elements).
struct NestAxis {
  int64_t size;
  int64_t in;
  int64_t out;
};

/// Axes from the outermost to the innermost.
struct Nest {
  NestAxis axes[kMaxAxes];
  int rank = 0;

  int64_t count() const;
  void push(NestAxis axis) { axes[rank++] = axis; }
  const NestAxis& inner() const { return axes[rank - 1]; }
  /// The innermost axis, or where there is none, an axis of the one position.
  NestAxis run() const { return rank > 0 ? inner() : NestAxis{1, 1, 1}; }
  /// The nest without its innermost axis.
  Nest outer() const;
  /// Merges adjacent axes that are one axis in memory; the order of the positions stays.
  void merge();
  /// Orders axes by the input's strides, the nearest innermost (broadcast ones, of stride 0, outermost), and merges.
  void sort_and_merge();
};

/// A nest of one position.
inline constexpr Nest kNoAxes{};

/// A position in a nest; starts at a linear index.
class NestWalk {
 public:
  NestWalk(const Nest& nest, int64_t linear);
  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  void next() {
    for (int i = nest_.rank - 1; i >= 0; --i) {
      const NestAxis& axis = nest_.axes[i];
      in_ += axis.in;
      out_ += axis.out;
      if (++index_[i] < axis.size) return;
      in_ -= axis.in * axis.size;
      out_ -= axis.out * axis.size;
      index_[i] = 0;
    }
  }
  /// in() of the next `count` positions; ends after them.
  void take(int64_t count, int64_t* in);

 private:
  const Nest& nest_;
  int64_t index_[kMaxAxes];
  int64_t in_ = 0;
  int64_t out_ = 0;
};

}  // namespace weft::kernels::cpu
