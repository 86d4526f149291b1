#include "tensor/ops/cat.h"

#include "tensor/kernels/cpu/pointwise/copy.h"

namespace weft {
namespace {

/// The axes from `axis` on of a part of x and the part of `out` that it goes to, both as views: in two pieces an axis.
void roll(const Operand& x, const View& from, const IntList& shifts, int64_t axis, const Operand& out, const View& to) {
  if (axis == from.rank()) return kernels::cpu::copy(x.with(from), out.with(to));
  const int64_t size = from.dim(axis), shift = shifts[static_cast<size_t>(axis)];
  roll(x, from.slice(axis, 0, size - shift), shifts, axis + 1, out, to.slice(axis, shift, size));
  if (shift > 0) roll(x, from.slice(axis, size - shift, size), shifts, axis + 1, out, to.slice(axis, 0, shift));
}

}  // namespace

void op::Cat::cpu(Operands tensors, const Operand& out) const {
  int64_t at = 0;
  for (const Operand& x : tensors) {
    const View part = out.layout().slice(axis, at, at + x.size(axis));
    kernels::cpu::copy(x, out.with(part));
    at += x.size(axis);
  }
}

void op::Roll::cpu(const Operand& x, const Operand& out) const { roll(x, *x.view, shifts, 0, out, *out.view); }

}  // namespace weft
