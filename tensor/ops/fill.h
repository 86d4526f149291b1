// Descriptors of functions that create tensors: ops without inputs.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// A tensor filled with `value`. `layout` is dense and has no mask.
struct Full {
  View layout;
  Scalar value;
  DType dtype;
  Device device = {};
  static constexpr std::string_view name = "full";
  void attributes(auto visit) const {
    visit("layout", layout), visit("value", value), visit("dtype", dtype), visit("device", device);
  }
  bool operator==(const Full&) const = default;
  Spec infer() const { return check_fits(value, dtype), Spec{layout, dtype}; }
  void cpu(const Operand& out) const;
};

/// out[i] = start + i * step. Exact for an integer dtype with integer start and step; otherwise computed in double.
struct Arange {
  Scalar start;
  Scalar step;
  int64_t count;
  DType dtype;
  Device device = {};
  static constexpr std::string_view name = "arange";
  void attributes(auto visit) const {
    visit("start", start), visit("step", step), visit("count", count), visit("dtype", dtype), visit("device", device);
  }
  bool operator==(const Arange&) const = default;
  Spec infer() const { return spec_of({count}, dtype); }
  void cpu(const Operand& out) const;
};

/// Evenly spaced values from `start` to `end`, which are both exact. A single value is `start`.
struct Linspace {
  double start;
  double end;
  int64_t count;
  DType dtype;
  Device device = {};
  static constexpr std::string_view name = "linspace";
  void attributes(auto visit) const {
    visit("start", start), visit("end", end), visit("count", count), visit("dtype", dtype), visit("device", device);
  }
  bool operator==(const Linspace&) const = default;
  Spec infer() const { return check_fits(start, dtype), check_fits(end, dtype), spec_of({count}, dtype); }
  void cpu(const Operand& out) const;
};

/// Ones on the diagonal of a matrix, zeros elsewhere.
struct Eye {
  int64_t rows;
  int64_t columns;
  DType dtype;
  Device device = {};
  static constexpr std::string_view name = "eye";
  void attributes(auto visit) const {
    visit("rows", rows), visit("columns", columns), visit("dtype", dtype), visit("device", device);
  }
  bool operator==(const Eye&) const = default;
  Spec infer() const { return spec_of({rows, columns}, dtype); }
  void cpu(const Operand& out) const;
};

}  // namespace weft::op
