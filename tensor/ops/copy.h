// Descriptors of ops that copy or fill, of detach, and the adjoint of every view.
#pragma once

#include "tensor/dispatch/any_op.h"
#include "tensor/ops/infer.h"

namespace weft::op {

/// A row-major copy.
struct Contiguous {
  static constexpr std::string_view name = "contiguous";
  static constexpr Policy policy = {.reads_masked = true};
  void attributes(auto) const {}
  bool operator==(const Contiguous&) const = default;
  Spec infer(const Operand& x) const { return spec_of(x.shape(), x.dtype); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// A copy in the memory order of `x`.
struct Clone {
  static constexpr std::string_view name = "clone";
  static constexpr Policy policy = {.reads_masked = true};
  void attributes(auto) const {}
  bool operator==(const Clone&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

struct Cast {
  DType dtype;
  static constexpr std::string_view name = "cast";
  static constexpr Policy policy = {.reads_masked = true};
  void attributes(auto visit) const { visit("dtype", dtype); }
  bool operator==(const Cast&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x, dtype); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// Copies a dense `x` from device `from` to `device` in the same memory order. to() copies between the devices itself
/// and records this op; the kernel of the op only copies memory within one device.
struct ToDevice {
  Device device;
  Device from;
  static constexpr std::string_view name = "to_device";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("device", device), visit("from", from); }
  bool operator==(const ToDevice&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// Converts `x` to a sample on the vmap `device` that is the same throughout the batch (dispatch/batched.h). Its batch
/// tensor is x itself.
struct Lift {
  Device device;
  static constexpr std::string_view name = "lift";
  static constexpr Policy policy = {.reads_masked = true};
  void attributes(auto visit) const { visit("device", device); }
  bool operator==(const Lift&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// A tensor filled with `value`, with the shape, dtype and memory order of the input, whose values are not read. Error
/// for an integer that the dtype cannot hold.
struct Fill {
  Scalar value;
  static constexpr std::string_view name = "fill";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const Fill&) const = default;
  Spec infer(const Operand& x) const { return check_fits(value, x.dtype), spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// The values of `source` in the dtype and memory order of `x`, which has the same shape. copy_ records this op.
struct CopyFrom {
  static constexpr std::string_view name = "copy";
  static constexpr Policy policy = {.numeric = 0, .reads_masked = true};
  void attributes(auto) const {}
  bool operator==(const CopyFrom&) const = default;
  Spec infer(const Operand& x, const Operand& source) const { return check_same_shape(x, source), spec_like(x); }
  void cpu(const Operand& x, const Operand& source, const Operand& out) const;
};

/// buffer += x, of equal shape and dtype. `buffer` may overlap itself (windows, stride 0): a memory position that
/// several indices share receives all their additions.
struct AddInto {
  static constexpr std::string_view name = "add_into";
  static constexpr Policy policy = {.accepts = kNumbers};
  static constexpr int outputs = 0;
  static constexpr uint32_t writes = 1;
  void attributes(auto) const {}
  bool operator==(const AddInto&) const = default;
  void infer(const Operand& buffer, const Operand& x) const { check_same_shape(buffer, x); }
  void cpu(const Operand& buffer, const Operand& x) const;
};

/// The same view of the same data; the op has no gradient.
struct Detach {
  static constexpr std::string_view name = "detach";
  void attributes(auto) const {}
  bool operator==(const Detach&) const = default;
  std::optional<View> view(const View& in) const { return in; }
};

/// The adjoint of any view op: zeros of `shape`, with `g` added into the same view of them.
struct ViewAdjoint {
  AnyOp of;
  Shape shape;
  static constexpr std::string_view name = "view_adjoint";
  static constexpr Policy policy = {.accepts = kNumbers};
  void attributes(auto visit) const { visit("of", of), visit("shape", shape); }
  bool operator==(const ViewAdjoint&) const = default;
  Spec infer(const Operand& g) const;
  void cpu(const Operand& g, const Operand& out) const;
  /// The view that op `of` takes of a tensor with layout `whole`, whose shape is `shape`.
  View part_of(const View& whole) const;
};

}  // namespace weft::op
