// Cases of ops that make, copy or convert tensors: fill, copy, random, dropout.
#include <cmath>

#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/stochastic_cast.h"
#include "tensor/functions/window.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

std::vector<Sample> shapes() {
  return {{normal({3, 4})}, {normal({})},  {normal({0, 3})}, {normal({2, 3, 2, 2})},
          {normal({37})},   {normal({1})}, {normal({5, 1})}, {normal({2, 2})}};
}
void add_copies(Cases& cases) {
  cases.add("clone", shapes(), CALL(x[0].clone()), same()).accepts(kAll);
  cases.add("contiguous", shapes(), CALL(x[0].contiguous()), same()).accepts(kAll);
  cases.add("detach", shapes(), CALL(x[0].detach()), same()).accepts(kAll).no_gradient();
  cases.add("cast to f64", shapes(), CALL(x[0].to(f64)), same()).accepts(kAll).gives({Result::f64});
  cases.add("fill_", shapes(), CALL(x[0].clone().fill_(2)), pointwise([](double) { return 2.0; })).compares(kNumbers);
  cases
      .add("copy_",
           {{normal({3, 4}), normal({3, 4})},
            {normal({3, 4}), normal({4})},
            {normal({0, 2}), normal({2})},
            {normal({2, 3}), normal({})},
            {normal({}), normal({})}},
           CALL(x[0].clone().copy_(x[1])), pointwise([](double, double b) { return b; }))
      .accepts(kAll)
      .in_place();
  cases
      .add(
          "copy_ into a view", {{normal({4, 3}), normal({2, 3})}, {normal({4, 1}), normal({1})}},
          [](const Inputs& x) {
            const Tensor y = x[0].detach().clone();
            y.slice(0, 1, 3).copy_(x[1].detach());
            return y;
          },
          [](const Arrays& x) {
            return build(x[0].shape, [&](const Index& i) {
              return i[0] == 1 || i[0] == 2 ? broadcast_at(x[1], {i[0] - 1, i[1]}) : x[0].at(i);
            });
          })
      .accepts(kAll)
      .no_gradient()
      .in_place();
}

void add_fills(Cases& cases) {
  auto add = [&](const char* name, Tensor (*f)(), Reference reference, Result dtype) {
    cases
        .add(
            name, {{}}, [f](const Inputs&) { return f(); }, std::move(reference))
        .gives({dtype})
        .no_gradient();
  };
  add(
      "zeros",
      [] {
        return zeros({2, 2});
      },
      constant({2, 2}, {0, 0, 0, 0}), Result::f32);
  add(
      "ones of nothing",
      [] {
        return ones({0, 2});
      },
      constant({0, 2}, {}), Result::f32);
  add(
      "full", [] { return full({3}, 7); }, constant({3}, {7, 7, 7}), Result::i64);
  add(
      "full bool", [] { return full({}, true); }, constant({}, {1}), Result::boolean);
  add(
      "arange", [] { return arange(1, 10, 4); }, constant({3}, {1, 5, 9}), Result::i64);
  add(
      "arange down", [] { return arange(1.0, -1.0, -0.5); }, constant({4}, {1, 0.5, 0, -0.5}), Result::f32);
  add(
      "arange to in a dtype", [] { return arange(3, f64); }, constant({3}, {0, 1, 2}), Result::f64);
  add(
      "arange in a dtype", [] { return arange(1, 3, f32); }, constant({2}, {1, 2}), Result::f32);
  add(
      "arange of nothing", [] { return arange(3, 1); }, constant({0}, {}), Result::i64);
  add(
      "linspace", [] { return linspace(0, 1, 5); }, constant({5}, {0, 0.25, 0.5, 0.75, 1}), Result::f32);
  add(
      "eye", [] { return eye(2, 3); }, constant({2, 3}, {1, 0, 0, 0, 1, 0}), Result::f32);
  add(
      "braces",
      [] {
        return tensor({{1, 2}, {3, 4}});
      },
      constant({2, 2}, {1, 2, 3, 4}), Result::i64);
  add(
      "floating braces",
      [] {
        return tensor({{{0.5}, {2.0}}});
      },
      constant({1, 2, 1}, {0.5, 2}), Result::f32);
  cases
      .add("like", {{normal({2, 3})}, {normal({})}},
           CALL(Outputs{zeros_like(x[0]), ones_like(x[0]), full_like(x[0], 1)}),
           [](const Arrays& x) {
             const Array one = pointwise([](double) { return 1.0; })(x)[0];
             return Arrays{pointwise([](double) { return 0.0; })(x)[0], one, one};
           })
      .accepts(kAll)
      .no_gradient();
}

void add_random(Cases& cases) {
  cases
      .add(
          "random numbers lie where they should", {{}},
          [](const Inputs&) {
            manual_seed(3);
            const Tensor u = rand({200}), n = randn({200}), i = randint(-2, 3, {200});
            return Outputs{logical_and(u >= 0, u < 1), isfinite(n), logical_and(i >= -2, i < 3)};
          },
          [](const Arrays&) {
            const Array yes{{200}, std::vector<double>(200, 1.0)};
            return Arrays{yes, yes, yes};
          })
      .gives({Result::boolean})
      .no_gradient();
  // The op carries its key: with the seed set again, the same elements stay.
  auto dropped = [](const Tensor& x) {
    manual_seed(5);
    return dropout(x, 0.5);
  };
  cases.add("dropout", shapes(), CALL(dropped(x[0])), nullptr).accepts(kFloating);
  cases
      .add(
          "dropout drops or scales", {{normal({100}, {0})}, {normal({7, 5}, {0})}},
          [dropped](const Inputs& x) {
            const Tensor y = dropped(x[0]);
            return logical_xor(y == 0.0, y == x[0] * 2.0);
          },
          pointwise([](double) { return 1.0; }))
      .accepts(kFloating)
      .gives({Result::boolean})
      .no_gradient();
  // Whole numbers that 16 bits hold stay. tests/optim/half_precision_test.cc: what becomes of others.
  for (const DType to : {bf16, f16}) {
    cases
        .add(text("stochastic_cast to ", to),
             {{integers({3, 5}, -100, 100)}, {integers({}, 0, 9)}, {integers({0, 2}, 0, 1)}},
             CALL(stochastic_cast(x[0], to).to(f32)), same())
        .accepts(kFloating)
        .gives({Result::f32});
  }
  cases
      .add("dropout of all and none", shapes(), CALL(Outputs{dropout(x[0], 1.0), dropout(x[0], 0.0)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double) { return 0.0; })(x)[0], x[0]};
           })
      .accepts(kFloating);
}

void add_errors(Cases& cases) {
  cases.error<DtypeError>(
      "stochastic_cast to f32", [] { stochastic_cast(ones({2}), f32); },
      "stochastic_cast([2] f32): it rounds to bf16 or f16, not to f32; use cast()");
  cases.error<ShapeError>(
      "zeros negative",
      [] {
        zeros({2, -1});
      },
      "zeros(): negative size -1 in [2, -1]");
  cases.error<ShapeError>(
      "ones overflow",
      [] {
        ones({int64_t{1} << 40, int64_t{1} << 40});
      },
      "ones(): the number of elements of [1099511627776, 1099511627776] does not fit into 64 bits");
  cases.error<ShapeError>(
      "full axes",
      [] {
        full({1, 1, 1, 1, 1, 1, 1, 1, 1}, 0);
      },
      "full(): [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 axes, at most 8 are possible");
  cases.error<Error>(
      "arange step", [] { arange(0, 3, 0); }, "arange(): step must not be 0");
  cases.error<Error>(
      "arange beyond its dtype", [] { arange(0, 300, u8); },
      "arange(): the value 299 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "arange from below its dtype", [] { arange(-1, 3, u8); },
      "arange(): the value -1 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "arange of reals beyond its dtype", [] { arange(0.0, 200.0, 50.5, i8); },
      "arange(): the value 151.5 does not fit into i8, which holds -128 to 127");
  cases.error<Error>(
      "logspace beyond its dtype", [] { logspace(0, 3, 4, 10, u8); },
      "logspace(): the value 1000 does not fit into u8, which holds 0 to 255");
  cases.error<ShapeError>(
      "linspace count", [] { linspace(0, 1, -1); }, "linspace(): negative size -1 in [-1]");
  cases.error<ShapeError>(
      "eye", [] { eye(-2); }, "eye(): negative size -2 in [-2, -2]");
  cases.error<ShapeError>(
      "ragged braces",
      [] {
        tensor({{1, 2}, {3}});
      },
      "tensor(): rows differ in length: 2 and 1");
  cases.error<ShapeError>(
      "from_vector",
      [] {
        from_vector(std::vector<double>{1, 2}, Shape{3});
      },
      "from_vector(): 2 values do not fill shape [3]");
  cases.error<Error>(
      "randint", [] { randint(3, 3, {2}); }, "randint(): there is no integer in [3, 3)");
  cases.error<DtypeError>(
      "rand of integers", [] { rand({2}, i64); }, "rand(): i64 is not accepted here; it takes floating dtypes");
  cases.error<DtypeError>(
      "randn like integers", [] { randn_like(ones({2}, i32)); },
      "randn_like([2] i32): i32 is not accepted here; it takes floating dtypes");
  cases.error<ShapeError>(
      "rand negative", [] { rand({-1}); }, "rand(): negative size -1 in [-1]");
  cases.error<Error>(
      "clone undefined", [] { Tensor().clone(); },
      "clone(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<Error>(
      "zeros_like undefined", [] { zeros_like(Tensor()); },
      "zeros_like(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<ShapeError>(
      "copy_ shapes", [] { ones({2}).copy_(ones({3})); },
      "copy_([2] f32, [3] f32): [3] does not broadcast to [2]: 3 and 2 on axis 0");
  cases.error<Error>(
      "fill_ that does not fit", [] { ones({2}, u8).fill_(-1); },
      "fill_([2] u8): the value -1 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "fill_ that only fits unsigned", [] { ones({2}, i64).fill_(UINT64_MAX); },
      "fill_([2] i64): the value 18446744073709551616 does not fit into i64, which holds -9223372036854775808 to "
      "9223372036854775807");
  cases.error<Error>(
      "fill_ of no number", [] { ones({2}, i32).fill_(NAN); },
      "fill_([2] i32): the value nan does not fit into i32, which holds -2147483648 to 2147483647");
  cases.error<Error>(
      "full of infinity", [] { full({2}, INFINITY, i64); },
      "full(): the value inf does not fit into i64, which holds -9223372036854775808 to 9223372036854775807");
  cases.error<Error>(
      "integers in braces",
      [] {
        tensor({1, 300}, u8);
      },
      "tensor(): the value 300 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "reals in braces",
      [] {
        tensor({{127.9, 128.0}}, i8);
      },
      "tensor(): the value 128 does not fit into i8, which holds -128 to 127");
  cases.error<Error>(
      "unsigned in braces", [] { tensor({UINT64_MAX}); },
      "tensor(): the value 18446744073709551616 does not fit into i64, which holds -9223372036854775808 to "
      "9223372036854775807");
  cases.error<Error>(
      "integers of a vector", [] { from_vector(std::vector<int>{-1}, std::nullopt, u8); },
      "from_vector(): the value -1 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "linspace beyond the dtype", [] { linspace(0, 300, 4, u8); },
      "linspace(): the value 300 does not fit into u8, which holds 0 to 255");
  cases.error<GradientError>(
      "fill_ of a leaf", [] { ones({2}).requires_grad_().fill_(0); },
      "fill_([2] f32): fill_ would write to a leaf that requires a gradient; do it under NoGrad");
  cases.error<Error>(
      "copy_ to an expanded view", [] { ones({1}).expand({2}).copy_(ones({2})); },
      "copy_([2] f32, [2] f32): copy_ would write to a view that overlaps itself (strides [0]); write to a "
      "contiguous() copy");
}

}  // namespace

void add_fill_cases(Cases& cases) {
  add_copies(cases);
  add_fills(cases);
  add_random(cases);
  add_errors(cases);
}

}  // namespace weft::testing
