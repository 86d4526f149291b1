// What the cases of linear algebra share: plain matrices on the naive side, well-conditioned ones on weft's.
#pragma once

#include <functional>
#include <string>

#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/view.h"
#include "tests/ops/case.h"
#include "tests/reference/matmul.h"

namespace weft::testing {

inline constexpr DTypes kReal = DTypes{f32, f64};

// ---- the naive side: plain matrices ----

inline Array identity(int64_t n, double value = 1) {
  return build({n, n}, [=](const Index& at) { return at[0] == at[1] ? value : 0.0; });
}
inline Array plus(const Array& a, const Array& b) {
  return build(a.shape, [&](const Index& at) { return a.at(at) + b.at(at); });
}
/// a with `value` added to the diagonal; a a^T with it: positive definite.
inline Array shifted(const Array& a, double value = 4) { return plus(a, identity(a.size(0), value)); }
inline Array definite(const Array& a) { return shifted(product(a, transposed(a)), 1); }
inline Array symmetric(const Array& a) { return plus(a, transposed(a)); }
/// The matrix without row i and column j.
inline Array minor_of(const Array& a, int64_t i, int64_t j) {
  return build({a.size(0) - 1, a.size(0) - 1}, [&](const Index& at) {
    return a.at({at[0] < i ? at[0] : at[0] + 1, at[1] < j ? at[1] : at[1] + 1});
  });
}
/// By the first row (Laplace).
inline double determinant(const Array& a) {
  double sum = a.size(0) == 0 ? 1 : 0;
  for (int64_t j = 0; j < a.size(0); ++j) sum += (j % 2 ? -1 : 1) * a.at({0, j}) * determinant(minor_of(a, 0, j));
  return sum;
}
inline Array inverse_of(const Array& a) {
  const double whole = determinant(a);
  return build(a.shape, [&](const Index& at) {
    return ((at[0] + at[1]) % 2 ? -1 : 1) * determinant(minor_of(a, at[1], at[0])) / whole;
  });
}
inline Array scalar(double value) {
  return build({}, [=](const Index&) { return value; });
}

/// f of every matrix of the last two axes, joined as a batch.
inline Reference each(const std::function<Array(const Array&)>& f) {
  return [=](const Arrays& x) {
    const Shape inner{x[0].size(-2), x[0].size(-1)};
    Shape batch(x[0].shape.begin(), x[0].shape.end() - 2);
    const size_t size = static_cast<size_t>(inner[0] * inner[1]);
    size_t count = 1;
    for (const int64_t n : batch) count *= static_cast<size_t>(n);
    Array out;
    Shape shape = f(Array{inner, std::vector<double>(size, 1.0)}).shape;
    for (size_t i = 0; i < count; ++i) {
      const auto first = x[0].values.begin() + static_cast<int64_t>(i * size);
      const Array one = f(Array{inner, {first, first + static_cast<int64_t>(size)}});
      out.values.insert(out.values.end(), one.values.begin(), one.values.end());
    }
    for (const int64_t n : shape) batch.push_back(n);
    out.shape = batch;
    return Arrays{out};
  };
}
// ---- weft's side: matrices that are well conditioned ----

inline Tensor identity_like(const Tensor& x, int64_t n) { return eye(n, std::nullopt, x.dtype(), x.device()); }
inline Tensor shifted(const Tensor& x, int64_t value = 4) { return x + identity_like(x, x.size(-1)) * value; }
inline Tensor definite(const Tensor& x) { return matmul(x, x.t()) + identity_like(x, x.size(-2)); }
inline Tensor symmetric(const Tensor& x) { return x + x.t(); }
inline Tensor scaled(const Tensor& vectors, const Tensor& values) { return vectors * unsqueeze(values, -2); }

inline const std::vector<Sample> kSquares = {{normal({3, 3})},    {normal({1, 1})},       {normal({4, 4})},
                                             {normal({2, 3, 3})}, {normal({2, 1, 2, 2})}, {normal({5, 5})},
                                             {normal({0, 2, 2})}};
inline const std::vector<Sample> kTall = {{normal({3, 3})}, {normal({4, 2})}, {normal({2, 3, 2})}, {normal({5, 1})}};
inline const std::vector<Sample> kAny = {
    {normal({3, 3})}, {normal({4, 2})}, {normal({2, 4})}, {normal({2, 3, 2})}, {normal({1, 3})}};
/// Sizes at which the kernels split; checked against themselves put together.
inline const std::vector<Sample> kLarge = {{normal({40, 40})}, {normal({70, 70})}, {normal({130, 130})}};

inline OpCase& row(Cases& cases, const std::string& name, const std::vector<Sample>& samples, Call call,
                   Reference reference) {
  return cases.add(name, samples, std::move(call), std::move(reference)).accepts(kReal).loose(50);
}

}  // namespace weft::testing
