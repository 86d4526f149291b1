// Cases of what is drawn from distributions, of generators, windows and logspace.
#include <cmath>

#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/functions/window.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

double one(double) { return 1; }

/// Three weights so large that the others are never drawn.
std::vector<double> few_of_many() {
  std::vector<double> weights(60, 1e-7);
  for (const size_t i : {7, 31, 58}) weights[i] = 60000;
  return weights;
}

void add_samples(Cases& cases) {
  // Weights of 0 are never drawn, the only one above 0 always.
  cases
      .add("multinomial of one category", {{given({4}, {0, 0, 3, 0})}}, CALL(multinomial(x[0], 5, true)),
           constant({5}, {2, 2, 2, 2, 2}))
      .accepts(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  cases
      .add("multinomial of rows", {{given({2, 3}, {0, 1, 0, 7, 0, 0})}}, CALL(multinomial(x[0], 2, true)),
           constant({2, 2}, {1, 1, 0, 0}))
      .accepts(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  cases
      .add(
          "multinomial without replacement",
          {{uniform({3, 6}, 0.5, 2)}, {uniform({1, 6}, 0.5, 2)}, {uniform({0, 6}, 0, 1)}},
          [](const Inputs& x) {
            Generator generator(4);
            const Tensor drawn = multinomial(x[0], 6, false, generator);
            return Outputs{sum(drawn, -1), sum(square(drawn), -1)};
          },
          [](const Arrays& x) {
            const std::vector<double> sums(static_cast<size_t>(x[0].shape[0]), 15), squares(sums.size(), 55);
            return Arrays{Array{{x[0].shape[0]}, sums}, Array{{x[0].shape[0]}, squares}};
          })
      .accepts(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  cases
      .add("multinomial of a few of many", {{given({60}, few_of_many())}}, CALL(sum(multinomial(x[0], 3))),
           constant({}, {96}))
      .accepts(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  cases
      .add("multinomial leaves zeros out", {{given({5}, {1, 0, 2, 0, 3})}}, CALL(sum(multinomial(x[0], 3, false))),
           constant({}, {6}))
      .accepts(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  cases
      .add("bernoulli of 0 and 1", {{mask({3, 4})}, {mask({})}, {mask({0})}}, CALL(bernoulli(x[0].to(f32))),
           pointwise([](double a) { return a; }))
      .gives({Result::f32})
      .no_gradient();
  cases
      .add(
          "bernoulli", {{uniform({40}, 0.1, 0.9)}, {uniform({3, 4}, 0.1, 0.9)}},
          [](const Inputs& x) {
            const Tensor y = bernoulli(x[0]);
            return logical_or(y == 0, y == 1);
          },
          pointwise(one))
      .accepts(kFloating)
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add(
          "poisson", {{uniform({40}, 0.5, 30)}, {uniform({3, 4}, 0.5, 4)}, {uniform({}, 1, 2)}, {uniform({0}, 1, 2)}},
          [](const Inputs& x) {
            const Tensor y = poisson(x[0]);
            return logical_and(y >= 0, y == floor(y));
          },
          pointwise(one))
      .accepts(kFloating)
      .gives({Result::boolean})
      .no_gradient();
  cases.add("poisson of 0", {{given({4}, {0, 0, 0, 0})}}, CALL(poisson(x[0])), pointwise([](double) { return 0.0; }))
      .accepts(kFloating)
      .no_gradient();
  // normal() is differentiable in both: the same numbers each time.
  cases
      .add(
          "normal of tensors",
          {{normal({3, 4}), positive({4})}, {normal({}), positive({})}, {normal({0}), positive({1})}},
          [](const Inputs& x) {
            manual_seed(6);
            return weft::normal(x[0], x[1]);
          },
          nullptr)
      .compares(DTypes{f64})
      .no_layouts();
}

void add_generators(Cases& cases) {
  cases
      .add(
          "one seed, one stream", {{}},
          [](const Inputs&) {
            Generator a(7), b(7);
            (void)rand({5});
            const auto draw = [](Generator& g) {
              return std::vector<Tensor>{rand({3}, g),
                                         randn({3}, g),
                                         randint(0, 9, {3}, g),
                                         randperm(5, g),
                                         weft::normal(1, 2, {4}, g),
                                         rand_like(ones({2}), g),
                                         randn_like(ones({2}), g),
                                         dropout(ones({20}), 0.5, g),
                                         zeros({3}).uniform_(2, 3, g),
                                         zeros({3}).normal_(2, 3, g),
                                         zeros({9}).bernoulli_(0.5, g),
                                         zeros({3}).exponential_(2, g),
                                         zeros({9}).geometric_(0.3, g),
                                         zeros({3}).log_normal_(0, 1, g),
                                         zeros({3}).cauchy_(0, 1, g),
                                         zeros({9}, u8).random_(3, 200, g)};
            };
            const std::vector<Tensor> first = draw(a), second = draw(b);
            Outputs same;
            for (size_t i = 0; i < first.size(); ++i) same.push_back(full({}, equal(first[i], second[i])));
            return same;
          },
          [](const Arrays&) {
            Arrays out;
            for (int i = 0; i < 16; ++i) out.push_back({{}, {1}});
            return out;
          })
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add(
          "in place lies where it should", {{normal({200})}, {normal({3, 4})}, {normal({0})}},
          [](const Inputs& x) {
            const Tensor u = x[0].clone().uniform_(2, 5), b = x[0].clone().bernoulli_(0.25);
            const Tensor e = x[0].clone().exponential_(0.5), n = x[0].clone().normal_(100, 1);
            const Tensor g = x[0].clone().geometric_(0.5), l = x[0].clone().log_normal_(1, 0.5);
            return Outputs{logical_and(u >= 2, u <= 5),        logical_or(b == 0, b == 1),
                           logical_and(e >= 0, isfinite(e)),   logical_and(n > 90, n < 110),
                           logical_and(g >= 1, g == floor(g)), logical_and(l > 0, isfinite(l)),
                           isfinite(x[0].clone().cauchy_())};
          },
          [](const Arrays& x) {
            const Array yes = pointwise(one)(x)[0];
            return Arrays{yes, yes, yes, yes, yes, yes, yes};
          })
      .accepts(kFloating)
      .gives({Result::boolean})
      .no_gradient();
}

void add_integers_in_place(Cases& cases) {
  cases
      .add("random_", {{normal({300})}, {normal({3, 4})}, {normal({0})}},
           CALL({logical_and(x[0].clone().random_(2, 5) >= 2, x[0].clone().random_(2, 5) <= 4),
                 x[0].clone().random_(1) == 0, x[0].clone().random_() >= 0}),
           [](const Arrays& x) {
             const Array yes = pointwise(one)(x)[0];
             return Arrays{yes, yes, yes};
           })
      .compares(kNumbers)
      .gives({Result::boolean})
      .no_gradient();
  cases.error<Error>(
      "random_ of no integer", [] { ones({2}).random_(3, 3); }, "random_([2] f32): there is no integer in [3, 3)");
  cases.error<Error>(
      "random_ beyond the dtype", [] { ones({2}, u8).random_(257); },
      "random_([2] u8): the value 256 does not fit into u8, which holds 0 to 255");
}

/// The share of 20,000 numbers below a bound, which the distribution function gives, to four standard deviations.
void add_shares(Cases& cases) {
  const auto share = [&](const std::string& name, double expected, const auto& fill, double bound) {
    cases
        .add(
            "share of " + name, {{}},
            [=](const Inputs&) {
              Generator g(11);
              const Tensor x = zeros({20000}, f64);
              return abs(mean((fill(x, g) < bound).to(f64)) - expected) < 4 * std::sqrt(0.25 / 20000);
            },
            constant({}, {1}))
        .gives({Result::boolean})
        .no_gradient();
  };
  share(
      "geometric_", 1 - std::pow(0.7, 3), [](Tensor x, Generator& g) { return x.geometric_(0.3, g); }, 3.5);
  share(
      "exponential_", 1 - std::exp(-1.0), [](Tensor x, Generator& g) { return x.exponential_(2, g); }, 0.5);
  share(
      "log_normal_", 0.5, [](Tensor x, Generator& g) { return x.log_normal_(1, 2, g); }, std::exp(1.0));
  share(
      "cauchy_", 0.75, [](Tensor x, Generator& g) { return x.cauchy_(3, 2, g); }, 5);
}

void add_windows(Cases& cases) {
  auto add = [&](const char* name, Tensor (*f)(), const Shape& shape, const std::vector<double>& values) {
    cases
        .add(
            name, {{}}, [f](const Inputs&) { return f(); }, constant(shape, values))
        .gives({Result::f64})
        .no_gradient();
  };
  // NumPy's values of hanning(5), hamming(5), blackman(5), bartlett(5), kaiser(5, 12).
  add("hann_window", [] { return hann_window(5, false, f64); }, {5}, {0, 0.5, 1, 0.5, 0});
  add("hann_window periodic", [] { return hann_window(4, true, f64); }, {4}, {0, 0.5, 1, 0.5});
  add("hamming_window", [] { return hamming_window(5, false, 0.54, 0.46, f64); }, {5}, {0.08, 0.54, 1, 0.54, 0.08});
  add("blackman_window", [] { return blackman_window(5, false, f64); }, {5}, {0, 0.34, 1, 0.34, 0});
  add("bartlett_window", [] { return bartlett_window(5, false, f64); }, {5}, {0, 0.5, 1, 0.5, 0});
  add("kaiser_window", [] { return kaiser_window(5, false, 12, f64); }, {5},
      {5.2773441320097665e-05, 0.2156727447589671, 1, 0.2156727447589671, 5.2773441320097665e-05});
  add("window of one", [] { return hann_window(1, true, f64); }, {1}, {1});
  add("window of none", [] { return blackman_window(0, true, f64); }, {0}, {});
  add("logspace", [] { return logspace(-1, 2, 4, 10, f64); }, {4}, {0.1, 1, 10, 100});
  add("logspace base 2", [] { return logspace(0, 3, 4, 2, f64); }, {4}, {1, 2, 4, 8});
  add("logspace of none", [] { return logspace(0, 3, 0, 2, f64); }, {0}, {});
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "multinomial axes",
      [] {
        multinomial(ones({2, 2, 2}), 1);
      },
      "multinomial([2, 2, 2] f32): the weights have 3 axes; they are (n) or (rows, n)");
  cases.error<DtypeError>(
      "multinomial of integers", [] { multinomial(ones({2}, i64), 1); },
      "multinomial([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "multinomial of too many", [] { multinomial(ones({3}), 4); },
      "multinomial([3] f32): cannot draw 4 samples without replacement from 3 categories");
  cases.error<Error>(
      "multinomial of too few weights",
      [] {
        multinomial(tensor({1.0, 0.0, 2.0}), 3);
      },
      "multinomial([3] f32): cannot draw 3 samples without replacement: only 2 weights are above 0");
  cases.error<Error>(
      "multinomial negative count", [] { multinomial(ones({3}), -1, true); },
      "multinomial([3] f32): cannot draw -1 samples");
  cases.error<ShapeError>(
      "multinomial of nothing", [] { multinomial(ones({0}), 1, true); },
      "multinomial([0] f32): there are no categories to draw from");
  cases.error<Error>(
      "multinomial negative weight",
      [] {
        multinomial(tensor({1.0, -0.5}), 1);
      },
      "multinomial([2] f32): the weight -0.5 of category 1 must be finite and 0 or more");
  cases.error<Error>(
      "multinomial NaN", [] { multinomial(full({2}, std::nan("")), 1); },
      "multinomial([2] f32): the weight nan of category 0 must be finite and 0 or more");
  cases.error<Error>(
      "multinomial of zeros", [] { multinomial(zeros({2}), 1, true); }, "multinomial([2] f32): no weight is above 0");
  cases.error<Error>(
      "bernoulli above 1",
      [] {
        bernoulli(tensor({0.5, 1.5}));
      },
      "bernoulli([2] f32): the probability 1.5 must lie between 0 and 1");
  cases.error<Error>(
      "bernoulli below 0",
      [] {
        bernoulli(tensor({-0.5, 0.5}));
      },
      "bernoulli([2] f32): the probability -0.5 must lie between 0 and 1");
  cases.error<Error>(
      "bernoulli NaN", [] { bernoulli(full({1}, std::nan(""))); },
      "bernoulli([1] f32): the probability nan must lie between 0 and 1");
  cases.error<Error>(
      "poisson negative",
      [] {
        poisson(tensor({1.0, -2.0}));
      },
      "poisson([2] f32): the rate -2 must be finite and 0 or more");
  cases.error<DtypeError>(
      "poisson of integers", [] { poisson(ones({2}, i32)); },
      "poisson([2] i32): i32 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "normal deviation", [] { weft::normal(0, -1, {2}); }, "normal(): the standard deviation -1 must be 0 or more");
  cases.error<ShapeError>(
      "normal shapes", [] { weft::normal(ones({2}), ones({3})); },
      "normal([2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<Error>(
      "normal_ deviation", [] { ones({2}).normal_(0, -1); },
      "normal_([2] f32): the standard deviation -1 must be 0 or more");
  cases.error<Error>(
      "uniform_ bounds", [] { ones({2}).uniform_(2, 1); }, "uniform_([2] f32): low 2 is above high 1");
  cases.error<DtypeError>(
      "uniform_ of integers", [] { ones({2}, i64).uniform_(); },
      "uniform_([2] i64): i64 is not accepted here; it takes floating dtypes");
  cases.error<Error>(
      "bernoulli_ probability", [] { ones({2}).bernoulli_(2); },
      "bernoulli_([2] f32): the probability 2 must lie between 0 and 1");
  cases.error<Error>(
      "geometric_ probability", [] { ones({2}).geometric_(1); },
      "geometric_([2] f32): the probability 1 must lie between 0 and 1, without both");
  cases.error<Error>(
      "cauchy_ scale", [] { ones({2}).cauchy_(0, 0); }, "cauchy_([2] f32): the scale 0 must be positive");
  cases.error<Error>(
      "log_normal_ deviation", [] { ones({2}).log_normal_(0, -1); },
      "log_normal_([2] f32): the standard deviation -1 must be 0 or more");
  cases.error<Error>(
      "exponential_ rate", [] { ones({2}).exponential_(0); }, "exponential_([2] f32): the rate 0 must be positive");
  cases.error<DtypeError>(
      "hann_window of integers", [] { hann_window(3, true, i64); },
      "hann_window(): i64 is not accepted here; it takes floating dtypes");
  cases.error<ShapeError>(
      "hamming_window negative", [] { hamming_window(-1); }, "hamming_window(): a window of -1 weights");
  cases.error<Error>(
      "kaiser_window beta", [] { kaiser_window(3, true, 1000); },
      "kaiser_window(): beta = 1000 must lie between -700 and 700");
}

}  // namespace

void add_random_cases(Cases& cases) {
  add_samples(cases);
  add_generators(cases);
  add_integers_in_place(cases);
  add_shares(cases);
  add_windows(cases);
  add_errors(cases);
}

}  // namespace weft::testing
