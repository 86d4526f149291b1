#include "tensor/kernels/cpu/compare.h"

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/elementwise.h"

namespace weft::kernels::cpu {
namespace {

// Calls run with the comparison as a functor.
template <class Run>
void visit_comparison(Comparison comparison, const Run& run) {
  switch (comparison) {
    case Comparison::eq: return run([](auto x, auto y) { return x == y; });
    case Comparison::ne: return run([](auto x, auto y) { return x != y; });
    case Comparison::lt: return run([](auto x, auto y) { return x < y; });
    case Comparison::le: return run([](auto x, auto y) { return x <= y; });
    case Comparison::gt: return run([](auto x, auto y) { return x > y; });
    case Comparison::ge: return run([](auto x, auto y) { return x >= y; });
  }
}

}  // namespace

void compare(Comparison comparison, const Operand& a, const Operand& b, const Operand& out) {
  visit_comparison(comparison, [&](const auto& f) {
    visit_dtype(a.dtype, [&]<class T>() { elementwise<bool, T, T>(kCheapGrain, f, out, a, b); });
  });
}

void compare_scalar(Comparison comparison, const Operand& a, const Number& value, const Operand& out) {
  visit_comparison(comparison, [&](const auto& f) {
    visit_dtype(a.dtype, [&]<class T>() {
      using C = detail::Stored<Compute<T>>;
      const C right = value.as<C>();
      elementwise<bool, T>(kCheapGrain, [&f, right](C x) { return f(x, right); }, out, a);
    });
  });
}

}  // namespace weft::kernels::cpu
