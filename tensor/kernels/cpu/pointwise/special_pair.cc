// Special functions of two tensors: zeta and the incomplete gamma functions, all computed in double.
#include "tensor/kernels/cpu/base/vector_igamma.h"
#include "tensor/kernels/cpu/base/vector_zeta.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/ops/special.h"

namespace weft::kernels::cpu {
namespace {

struct ZetaOf {
  vmath::Doubles operator()(vmath::Doubles x, vmath::Doubles q) const { return vmath::zeta(x, q); }
  template <class V> V operator()(V x, V q) const { return vmath::detail::in_doubles(*this, x, q); }
};

/// Sums end where a term is below the share of them that the dtype can show.
template <bool upper> struct IncompleteGammaOf {
  vmath::Doubles operator()(vmath::Doubles a, vmath::Doubles x) const {
    return vmath::incomplete_gamma<upper>(a, x, 0x1p-56);
  }
  template <class V> V operator()(V a, V x) const {
    return vmath::detail::in_doubles([](auto b, auto y) { return vmath::incomplete_gamma<upper>(b, y, 0x1p-34); }, a,
                                     x);
  }
};

struct GammaDensityOf {
  vmath::Doubles operator()(vmath::Doubles a, vmath::Doubles x) const { return vmath::gamma_density(a, x); }
  template <class V> V operator()(V a, V x) const { return vmath::detail::in_doubles(*this, a, x); }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_BINARY_KERNEL(Zeta, floating_pair(kSlowGrain, on_registers(ZetaOf{}), a, b, out))
WEFT_BINARY_KERNEL(Igamma, floating_pair(kSlowGrain, on_registers(IncompleteGammaOf<false>{}), a, b, out))
WEFT_BINARY_KERNEL(Igammac, floating_pair(kSlowGrain, on_registers(IncompleteGammaOf<true>{}), a, b, out))
WEFT_BINARY_KERNEL(GammaDensity, floating_pair(kMathGrain, on_registers(GammaDensityOf{}), a, b, out))

}  // namespace weft
