// Ops that copy: contiguous, clone, cast, and the writes fill_ and copy_. Also detach, and the adjoint of every view.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// A copy of `x` in its memory order (row-major unless dense), with history; padding reads as zero.
Tensor clone(const Tensor& x);
/// `x` where it is row-major, else a row-major copy, with history.
Tensor contiguous(const Tensor& x);
/// `x` with dtype `dtype`; itself where it has it. Floating to integer truncates, NaN gives 0, what does not fit is
/// clamped; to bool is `x != 0`. The gradient is cast back; a cast to an integer type cuts it.
Tensor cast(const Tensor& x, DType dtype);
/// The data of `x` (no copy) without history.
Tensor detach(const Tensor& x);

namespace op {

/// A row-major copy; reads padded views.
struct Contiguous {
  static constexpr std::string_view name = "contiguous";
  static constexpr bool reads_masked = true;
  void attributes(auto) const {}
  bool operator==(const Contiguous&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// A copy in the memory order of `x`.
struct Clone {
  static constexpr std::string_view name = "clone";
  static constexpr bool reads_masked = true;
  void attributes(auto) const {}
  bool operator==(const Clone&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

struct Cast {
  DType dtype;
  static constexpr std::string_view name = "cast";
  static constexpr bool reads_masked = true;
  void attributes(auto visit) const { visit("dtype", dtype); }
  bool operator==(const Cast&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// One value everywhere, in the shape, dtype and memory order of its input (which it does not read).
struct Fill {
  Scalar value;
  static constexpr std::string_view name = "fill";
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const Fill&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// `source` in the place, dtype and memory order of `x`: what copy_ records. The shapes are equal.
struct CopyFrom {
  static constexpr std::string_view name = "copy";
  void attributes(auto) const {}
  bool operator==(const CopyFrom&) const = default;
  Spec infer(const Tensor& x, const Tensor& source) const;
  void run(const Tensor& x, const Tensor& source, Tensor& out) const;
};

/// The same view of the same data; its rule is that it has none.
struct Detach {
  static constexpr std::string_view name = "detach";
  void attributes(auto) const {}
  bool operator==(const Detach&) const = default;
  std::optional<View> view(const View& in) const { return in; }
};

/// The adjoint of a view op: zeros of `shape`, and `g` added into the same view of them. Serves every view.
struct ViewAdjoint {
  AnyOp of;
  Shape shape;
  static constexpr std::string_view name = "view_adjoint";
  void attributes(auto visit) const { visit("of", of), visit("shape", shape); }
  bool operator==(const ViewAdjoint&) const = default;
  Spec infer(const Tensor& g) const;
  void run(const Tensor& g, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
