#include "tensor/ops/svd.h"

namespace weft::op {

std::array<Spec, 3> Svd::infer(const Operand& a) const {
  check_matrices(a);
  const int64_t m = a.size(a.rank() - 2), n = a.size(a.rank() - 1), k = m < n ? m : n;
  const Spec s = spec_of(vectors_like(a, k), a.dtype), none = spec_of({0}, a.dtype);
  if (!vectors) return {none, s, none};
  return {spec_of(matrices_like(a, m, full ? m : k), a.dtype), s, spec_of(matrices_like(a, full ? n : k, n), a.dtype)};
}

}  // namespace weft::op
