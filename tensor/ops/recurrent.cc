#include "tensor/ops/recurrent.h"

namespace weft::op {
namespace {

struct Sizes {
  int64_t n, length, hidden;
};

void check_shape(const char* what, const Operand& x, const Shape& expected) {
  if (x.defined() && x.shape() != expected) throw ShapeError(text(what, " must be ", expected, ", not ", x.shape()));
}

/// The sizes of a call; all checks.
Sizes check(Recurrence kind, const Operand& projected, const Operand& weight, const Operand& bias, const Operand& h0,
            const Operand& c0, const Operand& lengths) {
  const int64_t gates = gates_of(kind);
  if (projected.rank() != 3)
    throw ShapeError(text("the projected input must be (N, L, gates), not ", projected.shape()));
  const int64_t n = projected.size(0), width = projected.size(2), hidden = width / gates;
  if (width % gates != 0) throw ShapeError(text(width, " columns do not divide into ", gates, " gates"));
  check_shape("the weight", weight, {width, hidden});
  check_shape("the bias", bias, {width});
  check_shape("h", h0, {n, hidden});
  if (c0.defined() && kind != Recurrence::lstm) throw Error(text("only an lstm has a c, not a ", attribute_text(kind)));
  check_shape("c", c0, {n, hidden});
  if (lengths.defined() && !is_integer(lengths.dtype))
    throw DtypeError(text("the lengths are ", lengths.dtype, "; they must be integers, e.g. i64"));
  check_shape("the lengths", lengths, {n});
  return {n, projected.size(1), hidden};
}

}  // namespace

std::array<Spec, 5> Recurrent::infer(const Operand& projected, const Operand& weight, const Operand& bias,
                                     const Operand& h0, const Operand& c0, const Operand& lengths) const {
  const auto [n, length, hidden] = check(kind, projected, weight, bias, h0, c0, lengths);
  const DType dtype = projected.dtype;
  const Spec y = spec_of({n, length, hidden}, dtype), state = spec_of({n, hidden}, dtype), none = spec_of({0}, dtype);
  const bool cell = kind == Recurrence::lstm;
  return {y, state, cell ? state : none, keeps ? spec_of({n, length, kept_gates(kind) * hidden}, dtype) : none,
          keeps && cell ? y : none};
}

std::array<Spec, 5> RecurrentBackward::infer(const Operand& gy, const Operand& gh, const Operand& gc,
                                             const Operand& projected, const Operand& weight, const Operand& bias,
                                             const Operand& h0, const Operand& c0, const Operand& lengths,
                                             const Operand& y, const Operand&, const Operand&) const {
  const auto [n, length, hidden] = check(kind, projected, weight, bias, h0, c0, lengths);
  check_shape("y", y, {n, length, hidden});
  check_shape("the gradient of y", gy, y.shape());
  check_shape("the gradient of h", gh, {n, hidden});
  check_shape("the gradient of c", gc, kind == Recurrence::lstm ? Shape{n, hidden} : Shape{0});
  const DType dtype = projected.dtype;
  const Spec state = spec_of({n, hidden}, dtype), none = spec_of({0}, dtype);
  return {wanted & 1 ? spec_of(projected.shape(), dtype) : none, wanted & 2 ? spec_of(weight.shape(), dtype) : none,
          wanted & 4 ? spec_of({weight.size(0)}, dtype) : none, wanted & 8 ? state : none, wanted & 16 ? state : none};
}

}  // namespace weft::op
