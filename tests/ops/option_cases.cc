// Cases of optional arguments, of compound assignment, and of axes of tensors that have none.
#include <cmath>

#include "tensor/core/random.h"
#include "tensor/functions/activation.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/distance.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/scatter.h"
#include "tensor/functions/search.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/split.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/unique.h"
#include "tensor/functions/view.h"
#include "tests/ops/alike.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

void add_dtypes(Cases& cases) {
  cases
      .add("sum in f64", {{normal({3, 4})}, {normal({0, 2})}}, CALL(sum(x[0], 0, {}, f64)),
           reduction({0}, false, reference::sum))
      .accepts(kAll)
      .gives({Result::f64});
  cases
      .add("mean in f64", {{integers({3, 4}, -5, 5)}, {mask({4})}}, CALL(mean(x[0], -1, keepdim, f64)),
           reduction(
               {-1}, true,
               [](const std::vector<double>& row) { return reference::sum(row) / static_cast<double>(row.size()); }))
      .accepts(kAll)
      .gives({Result::f64});
  cases
      .add("prod in f64", {{uniform({3, 4}, 1, 2)}}, CALL(prod(x[0], 1, {}, f64)),
           reduction({1}, false, reference::prod))
      .compares(kFloating)
      .gives({Result::f64});
  cases
      .add(
          "cumsum and cumprod in f64", {{uniform({5}, 1, 2)}, {uniform({}, 1, 2)}},
          [](const Inputs& x) {
            return Outputs{cumsum(x[0], 0, f64), cumprod(x[0], 0, f64)};
          },
          [](const Arrays& x) {
            Array sums = x[0], products = x[0];
            for (size_t i = 1; i < sums.values.size(); ++i) {
              sums.values[i] += sums.values[i - 1];
              products.values[i] *= products.values[i - 1];
            }
            return Arrays{sums, products};
          })
      .compares(kFloating)
      .gives({Result::f64});
  // A dtype is the result's, whatever the kernel sums in.
  cases
      .add(
          "sum of bool in i32", {{}},
          [](const Inputs&) {
            const Tensor a = sum(ones({3}, boolean), {}, {}, i32), b = cumsum(ones({2}, u8), 0, i16);
            return Outputs{full({}, a.dtype() == i32), a.to(f32), full({}, b.dtype() == i16), b.to(f32)};
          },
          [](const Arrays&) {
            return Arrays{{{}, {1}}, {{}, {3}}, {{}, {1}}, {{2}, {1, 2}}};
          })
      .gives({Result::boolean, Result::f32, Result::boolean, Result::f32})
      .no_gradient();
}

void add_arguments(Cases& cases) {
  cases
      .add("diff with neighbors", {{normal({2, 3}), normal({2, 1}), normal({2, 2})}},
           CALL(diff(x[0], 1, -1, x[1], x[2])),
           [](const Arrays& x) {
             return build({2, 5}, [&](const Index& i) {
               const auto at = [&](int64_t k) {
                 return k == 0 ? x[1].at({i[0], 0}) : k < 4 ? x[0].at({i[0], k - 1}) : x[2].at({i[0], k - 4});
               };
               return at(i[1] + 1) - at(i[1]);
             });
           })
      .compares(kFloating);
  cases
      .add("searchsorted with a sorter", {{given({4}, {3, 1, 7, 5}), given({3}, {0, 4, 7})}},
           CALL(searchsorted(x[0], x[1], false, argsort(x[0]))), constant({3}, {0, 2, 3}))
      .compares(kNumbers)
      .gives({Result::i64})
      .no_gradient();
  cases
      .add(
          "sorted where order is left open", {{distinct({6})}},
          [](const Inputs& x) {
            return alike({{topk(x[0], 3, -1, true, false).values, topk(x[0], 3).values},
                          {topk(x[0], 3, -1, true, false).indices, topk(x[0], 3).indices},
                          {unique(x[0], {.sorted = false}).values, unique(x[0]).values}});
          },
          yes(3))
      .compares(kFloating)
      .gives({Result::boolean})
      .no_gradient()
      .no_vmap();
  cases
      .add("bernoulli_ of tensors", {{normal({3, 4}), given({4}, {0, 1, 1, 0})}, {normal({}), given({}, {1})}},
           CALL(x[0].detach().clone().bernoulli_(x[1])), pointwise([](double, double p) { return p; }))
      .accepts(kFloating)
      .no_gradient()
      .in_place();
  cases
      .add(
          "normal with a number", {{normal({3}), positive({3})}, {normal({}), positive({})}},
          [](const Inputs& x) {
            Generator a(3), b(3);
            return Outputs{weft::normal(x[0], 0, a), weft::normal(2, x[1] * 0, b)};
          },
          [](const Arrays& x) {
            return Arrays{x[0], pointwise([](double) { return 2.0; })(x)[0]};
          })
      .accepts(kFloating);
}

/// Options by name mean what they mean by their place.
void add_structs(Cases& cases) {
  cases
      .add(
          "options by name", {{distinct({3, 4}), special({3, 4})}},
          [](const Inputs& in) {
            const Tensor &x = in[0], &odd = in[1];
            Generator a(3), b(3);
            return alike({{isclose(odd, odd, {.equal_nan = true}), isclose(odd, odd, 1e-5, 1e-8, true)},
                          {isclose(x, x * 1.1, {.rtol = 0.2, .atol = 0}), isclose(x, x * 1.1, 0.2, 0)},
                          {full({}, allclose(odd, odd, {.equal_nan = true})), full({}, true)},
                          {full({}, allclose(x, x + 0.01, {.atol = 0.1})), full({}, true)},
                          {nan_to_num(odd, {.nan = 2, .neginf = 1}), nan_to_num(odd, 2, std::nullopt, Scalar(1))},
                          {topk(x, 2, {.largest = false}).values, topk(x, 2, -1, false).values},
                          {topk(x, 2, {.axis = 0}).indices, topk(x, 2, 0).indices},
                          {diff(x, {.prepend = x}), diff(x, 1, -1, x)},
                          {diff(x, {.n = 2, .axis = 0, .append = x}), diff(x, 2, 0, {}, x)},
                          {normalize(x, {.axis = 0}), normalize(x, 2, 0)},
                          {normalize(x, {.p = 1, .eps = 3}), normalize(x, 1, 1, 3)},
                          {gumbel_softmax(x, {.hard = true, .axis = 0}, a), gumbel_softmax(x, 1, true, 0, b)},
                          // Braces alone are options, not a zero in the first place.
                          {isclose(x, x * 1.000001, {}), isclose(x, x * 1.000001)},
                          {full({}, allclose(x, x * 1.000001, {})), full({}, true)},
                          {topk(x, 2, {}).values, topk(x, 2).values},
                          {diff(x, {}), diff(x)},
                          {normalize(x, {}), normalize(x)},
                          {gumbel_softmax(x, {}, a), gumbel_softmax(x, 1, false, -1, b)}});
          },
          yes(18))
      .compares(kFloating)
      .gives({Result::boolean})
      .no_gradient()
      .no_vmap();
}

void add_generators(Cases& cases) {
  cases
      .add(
          "generators of attention and in place", {{normal({2, 4, 3}), uniform({4}, 0.2, 0.8)}},
          [](const Inputs& x) {
            const RandomState before = random_state();
            const auto drawn = [&](Generator g) {
              return std::vector<Tensor>{
                  scaled_dot_product_attention(x[0], x[0], x[0], {.dropout_p = 0.5, .generator = &g}),
                  zeros({50, 4}, f32, x[1].device()).bernoulli_(x[1].to(f32), g), weft::normal(x[1], 2, g),
                  weft::normal(1, x[1], g)};
            };
            const std::vector<Tensor> a = drawn(Generator(9)), b = drawn(Generator(9)), c = drawn(Generator(10));
            Outputs out;
            for (size_t i = 0; i < a.size(); ++i) {
              out.push_back(full({}, equal(a[i], b[i])));
              out.push_back(full({}, !equal(a[i], c[i])));
            }
            out.push_back(full({}, random_state() == before));
            return out;
          },
          yes(9))
      .gives({Result::boolean})
      .no_gradient()
      .no_vmap();
}

void add_compounds(Cases& cases) {
  const auto add = [&](const char* name, Tensor& (*assign)(Tensor&, const Tensor&), double (*f)(double, double),
                       const InputSpec& a, const InputSpec& b) -> OpCase& {
    return cases
        .add(
            name, {{a, b}},
            [assign](const Inputs& x) {
              Tensor out = x[0].clone();
              return assign(out, x[1]);
            },
            pointwise(f))
        .compares(kIntegers)
        .no_gradient()
        .in_place();
  };
#define WEFT_ASSIGN(sign) [](Tensor& x, const Tensor& y) -> Tensor& { return x sign y; }
#define WEFT_VALUE(sign) \
  [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) sign static_cast<int64_t>(b)); }
  const InputSpec a = integers({3, 4}, 0, 15), b = integers({4}, 1, 3);
  add("assign and", WEFT_ASSIGN(&=), WEFT_VALUE(&), a, b);
  add("assign or", WEFT_ASSIGN(|=), WEFT_VALUE(|), a, b);
  add("assign xor", WEFT_ASSIGN(^=), WEFT_VALUE(^), a, b);
  add("assign left shift", WEFT_ASSIGN(<<=), WEFT_VALUE(<<), a, b);
  add("assign right shift", WEFT_ASSIGN(>>=), WEFT_VALUE(>>), a, b);
  add("assign remainder", WEFT_ASSIGN(%=), WEFT_VALUE(%), a, b).no_layouts();  // padding would divide by 0
#undef WEFT_ASSIGN
#undef WEFT_VALUE
  cases
      .add(
          "assign with numbers", {{integers({5}, 0, 15)}},
          [](const Inputs& x) {
            Tensor out = x[0].clone();
            out %= 11;
            out |= 16;
            out &= 29;
            out ^= 3;
            out <<= 2;
            out >>= 1;
            return out;
          },
          pointwise([](double a) {
            const auto x = static_cast<int64_t>(a);
            return static_cast<double>(((((x % 11) | 16) & 29) ^ 3) * 2);
          }))
      .compares(kIntegers)
      .no_gradient();
  cases
      .add(
          "assign remainder of floating", {{normal({3, 4}), uniform({4}, 0.5, 1)}},
          [](const Inputs& x) {
            Tensor out = x[0] * 1;
            return out %= x[1];
          },
          pointwise([](double a, double b) { return a - std::floor(a / b) * b; }))
      .compares(kFloating)
      .in_place();
  cases.error<DtypeError>(
      "assign and floating",
      [] {
        Tensor x = ones({2});
        x &= ones({2});
      },
      "&=([2] f32, [2] f32): f32 is not accepted here; it takes integers or bool");
  cases.error<DtypeError>(
      "assign remainder of integers by a floating number",
      [] {
        Tensor x = ones({2}, i64);
        x %= 0.5;
      },
      "%=([2] i64): the result is f32 and cannot be written in place to i64; use the form that returns a new "
      "tensor");
}

/// A tensor without axes takes axis 0 and -1, as one of a single element does.
void add_scalars(Cases& cases) {
  for (const int64_t axis : {0, -1}) {
    const std::string name = " of a scalar along " + std::to_string(axis);
    cases.add("roll" + name, {{normal({})}}, CALL(roll(x[0], {3}, {axis})), pointwise([](double a) { return a; }))
        .accepts(kAll);
    cases
        .add("movedim" + name, {{normal({})}}, CALL(movedim(x[0], IntList{axis}, IntList{axis}) * 1),
             pointwise([](double a) { return a; }))
        .compares(kFloating);
    cases
        .add("repeat_interleave" + name, {{normal({})}}, CALL(repeat_interleave(x[0], 3, axis)),
             picked({3}, [](const Index&) { return Index{}; }))
        .accepts(kAll);
    cases
        .add("repeat_interleave by counts" + name, {{normal({}), index({1}, std::vector<double>{2})}},
             CALL(repeat_interleave(x[0], x[1], axis)), picked({2}, [](const Index&) { return Index{}; }))
        .accepts(kAll)
        .no_vmap(2);
    cases
        .add("index_reduce" + name, {{normal({}), index({1}, {0}), normal({1})}},
             CALL(index_reduce(x[0], axis, x[1], x[2], "prod")),
             [](const Arrays& x) {
               return Arrays{{{}, {x[0].values[0] * x[2].values[0]}}};
             })
        .compares(kFloating);
  }
  cases.error<IndexError>(
      "roll of a scalar", [] { roll(ones({}), {1}, {1}); }, "roll([] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "movedim of a scalar", [] { movedim(ones({}), IntList{0}, IntList{1}); },
      "movedim([] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "repeat_interleave of a scalar", [] { repeat_interleave(ones({}), 2, 1); },
      "repeat_interleave([] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "index_reduce of a scalar",
      [] {
        index_reduce(ones({}), 0, tensor({0, 0}), ones({2}), "prod");
      },
      "index_reduce([] f32, [2] i64, [2] f32): a tensor without axes takes one index and one value, not shapes [2] and "
      "[2]");
  // There is nothing to cut: as in PyTorch.
  cases.error<IndexError>(
      "split of a scalar", [] { split(ones({}), IntList{1}); }, "split([] f32): axis 0 is out of range for 0 axes");
  cases.error<IndexError>(
      "unbind of a scalar", [] { unbind(ones({})); }, "unbind([] f32): axis 0 is out of range for 0 axes");
}

}  // namespace

void add_option_cases(Cases& cases) {
  add_dtypes(cases);
  add_arguments(cases);
  add_structs(cases);
  add_generators(cases);
  add_compounds(cases);
  add_scalars(cases);
}

}  // namespace weft::testing
