// Cases of scatter and its reductions.
#include "autograd/autograd.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scatter.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

using Meet = double (*)(double old, double value);

Index place_of(const Array& indices, Index at, size_t axis) {
  const auto target = static_cast<int64_t>(indices.at(at));
  if (!at.empty()) at[axis] = target;
  return at;
}
Reference scattered(size_t axis, Meet meet) {
  return [=](const Arrays& x) {
    Array out = x[0];
    for (const Index& i : indices_of(x[1].shape)) {
      double& place = out.at(place_of(x[1], i, axis));
      place = meet(place, x[2].at(i));
    }
    return out;
  };
}
/// The same, where the first that comes replaces what was there; `divide` by the number that came.
Reference scattered_without_self(size_t axis, Meet meet, bool divide) {
  return [=](const Arrays& x) {
    Array out = x[0];
    std::vector<double> counts(out.values.size(), 0.0);
    Array count{out.shape, counts};
    for (const Index& i : indices_of(x[1].shape)) {
      const Index to = place_of(x[1], i, axis);
      out.at(to) = count.at(to)++ == 0 ? x[2].at(i) : meet(out.at(to), x[2].at(i));
    }
    for (size_t i = 0; i < out.values.size() && divide; ++i) out.values[i] /= std::max(1.0, count.values[i]);
    return out;
  };
}
double last(double, double value) { return value; }
double plus(double old, double value) { return old + value; }
double times(double old, double value) { return old * value; }
double most(double old, double value) { return std::max(old, value); }
double least(double old, double value) { return std::min(old, value); }

using Specs = InputSpec (*)(const Shape&);
std::vector<Sample> samples_of(Specs draw, Specs source) {
  return {{draw({4, 3}), index({2, 3}, 4), source({2, 3})},
          {draw({4, 3}), index({5, 2}, 4), source({5, 2})},
          {draw({4}), index({6}, {0, 0, 3, 0, 1, 3}), source({6})},
          {draw({3, 2, 2}), index({2, 2, 1}, 3), source({2, 2, 1})},
          {draw({4, 3}), index({0, 3}, 4), source({0, 3})}};
}
InputSpec any_normal(const Shape& shape) { return normal(shape); }
/// Values no two of which are near each other, in x and src together.
InputSpec apart(const Shape& shape, double offset) {
  std::vector<double> values;
  for (size_t i = 0; i < indices_of(shape).size(); ++i) values.push_back(static_cast<double>(i * 7 % 13) + offset);
  return given(shape, values);
}
InputSpec apart_in_x(const Shape& shape) { return apart(shape, -5); }
InputSpec apart_in_source(const Shape& shape) { return apart(shape, -4.5); }

void add_plain(Cases& cases) {
  cases.add("scatter", samples_of(any_normal, any_normal), CALL(scatter(x[0], 0, x[1], x[2])), scattered(0, last))
      .accepts(kAll);
  cases
      .add("scatter columns of a larger source", {{normal({3, 5}), index({2, 2}, {4, 0, 1, 1}), normal({3, 4})}},
           CALL(scatter(x[0], -1, x[1], x[2])), scattered(1, last))
      .accepts(kAll);
  const auto one_each = [](Specs draw) {
    return std::vector<Sample>{{draw({5, 4}), index({5, 1}, 4), draw({5, 1})},
                               {draw({3, 1}), index({3, 1}, 1), draw({3, 1})}};
  };
  cases.add("scatter to one of each row", one_each(any_normal), CALL(scatter(x[0], 1, x[1], x[2])), scattered(1, last))
      .accepts(kAll);
  cases
      .add("scatter_add to one of each row", one_each(any_normal), CALL(scatter_add(x[0], -1, x[1], x[2])),
           scattered(1, plus))
      .compares(kFloating);
  cases.error<IndexError>(
      "scatter one of each row",
      [] {
        scatter_add(ones({3, 5}), 1, tensor({{1}, {4}, {5}}), ones({3, 1}));
      },
      "scatter_add([3, 5] f32, [3, 1] i64, [3, 1] f32): index 5 is out of range for an axis of size 5");
  cases
      .add("scatter of a number", {{normal({4, 3}), index({2, 3}, 4)}, {normal({4}), index({3}, 4)}},
           CALL(scatter(x[0], 0, x[1], 1)),
           [](const Arrays& x) {
             Array out = x[0];
             for (const Index& i : indices_of(x[1].shape)) out.at(place_of(x[1], i, 0)) = 1;
             return out;
           })
      .accepts(kAll);
  cases
      .add("scatter to a scalar", {{normal({}), index({}, 1), normal({})}}, CALL(scatter(x[0], 0, x[1], x[2])),
           [](const Arrays& x) { return x[2]; })
      .accepts(kAll);
  cases
      .add("scatter_add to a tensor", samples_of(any_normal, any_normal), CALL(scatter_add(x[0], 0, x[1], x[2])),
           scattered(0, plus))
      .compares(kFloating);
  cases
      .add(
          "scatter in place to columns of a view",
          {{normal({3, 6}), index({3, 2}, {2, 0, 1, 1, 0, 2}), normal({3, 2})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].clone();
            y.slice(1, 0, 6, 2).scatter_(1, x[1], x[2]).scatter_add_(1, x[1], x[2]);
            return y;
          },
          [](const Arrays& x) {
            Array out = x[0];
            for (const Index& i : indices_of(x[1].shape)) {
              const int64_t column = 2 * static_cast<int64_t>(x[1].at(i));
              out.at({i[0], column}) = x[2].at(i);
            }
            for (const Index& i : indices_of(x[1].shape))
              out.at({i[0], 2 * static_cast<int64_t>(x[1].at(i))}) += x[2].at(i);
            return out;
          })
      .compares(kFloating)
      .in_place();
}

/// x[1], whose last axis has size 1, as the index of whole rows of x[0] that it is expanded to.
Tensor row_index(const Inputs& x) {
  Shape shape = x[1].shape();
  shape[shape.size() - 1] = x[0].size(-1);
  return expand(x[1], shape);
}
Reference of_rows(const Reference& reference) {
  return [=](const Arrays& x) {
    Arrays inputs = x;
    Shape shape = x[1].shape;
    shape[shape.size() - 1] = x[0].shape.back();
    inputs[1] = reference::build(shape, [&](const Index& i) { return broadcast_at(x[1], i); });
    return reference(inputs);
  };
}
std::vector<Sample> rows_of(Specs draw, Specs source) {
  return {{draw({4, 6}), index({5, 1}, {0, 3, 0, 0, 2}), source({5, 6})},
          {draw({3, 2, 5}), index({4, 2, 1}, 3), source({4, 2, 5})},
          {draw({3, 1, 5}), index({2, 1, 1}, 3), source({2, 1, 5})}};
}

/// Whole rows by an index that is expanded along them.
void add_rows(Cases& cases) {
  const auto add = [&](const std::string& name, const auto& call, const Reference& reference, Specs draw,
                       Specs source) {
    cases.add(name + " of rows by an expanded index", rows_of(draw, source), call, of_rows(reference))
        .compares(kFloating)
        .loose(4);
  };
  add("scatter", CALL(scatter(x[0], 0, row_index(x), x[2])), scattered(0, last), any_normal, any_normal);
  add("scatter_add", CALL(scatter_add(x[0], 0, row_index(x), x[2])), scattered(0, plus), any_normal, any_normal);
  add("scatter_reduce prod", CALL(scatter_reduce(x[0], 0, row_index(x), x[2], "prod", false)),
      scattered_without_self(0, times, false), positive, positive);
  add("scatter_reduce amax", CALL(scatter_reduce(x[0], 0, row_index(x), x[2], "amax", false)),
      scattered_without_self(0, most, false), apart_in_x, apart_in_source);
  add("scatter_reduce mean", CALL(scatter_reduce(x[0], 0, row_index(x), x[2], "mean", false)),
      scattered_without_self(0, plus, true), any_normal, any_normal);
  cases
      .add("scatter of integers to rows by an expanded index",
           {{integers({4, 6}, 0, 9), index({5, 1}, {0, 3, 0, 0, 2}), integers({5, 6}, 0, 9)}},
           CALL(scatter_add(x[0], 0, row_index(x), x[2])), of_rows(scattered(0, plus)))
      .compares(kNumbers);
  cases.error<IndexError>(
      "scatter expanded index",
      [] {
        scatter_add(ones({3, 5}), 0, expand(tensor({{1}, {3}}), {2, 5}), ones({2, 5}));
      },
      "scatter_add([3, 5] f32, [2, 5] i64, [2, 5] f32): index 3 is out of range for an axis of size 3");
}

void add_reductions(Cases& cases) {
  const auto add = [&](const char* name, Meet meet, Specs draw, Specs source) {
    const std::string reduce = name;
    cases
        .add("scatter_reduce " + reduce, samples_of(draw, source), CALL(scatter_reduce(x[0], 0, x[1], x[2], reduce)),
             scattered(0, meet))
        .compares(kFloating)
        .loose(4);
    cases
        .add("scatter_reduce " + reduce + " without self", samples_of(draw, source),
             CALL(scatter_reduce(x[0], 0, x[1], x[2], reduce, false)), scattered_without_self(0, meet, false))
        .compares(kFloating)
        .loose(4);
  };
  add("sum", plus, any_normal, any_normal);
  add("prod", times, positive, positive);
  cases
      .add("scatter_reduce prod of zeros",
           {{given({4}, {5, 2, 0, 0}), index({6}, {0, 0, 1, 1, 2, 3}), given({6}, {0, 3, 0, 0, 4, 0})}},
           CALL(scatter_reduce(x[0], 0, x[1], x[2], "prod")), scattered(0, times))
      .compares(kFloating);
  add("amax", most, apart_in_x, apart_in_source);
  add("amin", least, apart_in_x, apart_in_source);
  for (const char* name : {"amax", "amin"}) {
    const std::string reduce = name;
    cases
        .add("scatter_reduce " + reduce + " of integers", {{integers({4}, -9, 9), index({6}, 4), integers({6}, -9, 9)}},
             CALL(scatter_reduce(x[0], 0, x[1], x[2], reduce, false)),
             scattered_without_self(0, reduce == "amax" ? most : least, false))
        .compares(kNumbers - DTypes{u8});
  }
  cases
      .add("scatter_reduce mean without self", samples_of(any_normal, any_normal),
           CALL(scatter_reduce(x[0], 0, x[1], x[2], "mean", false)), scattered_without_self(0, plus, true))
      .compares(kFloating)
      .loose(4);
  cases
      .add("scatter_reduce mean", {{normal({3}), index({4}, {0, 2, 0, 0}), normal({4})}},
           CALL(scatter_reduce(x[0], 0, x[1], x[2], "mean")),
           [](const Arrays& x) {
             Array out = scattered(0, plus)(x)[0];
             out.values[0] /= 4, out.values[2] /= 2;
             return out;
           })
      .compares(kFloating)
      .loose(4);
  cases
      .add("index_reduce", {{positive({4, 3}), index({3}, {1, 1, 2}), positive({3, 3})}},
           CALL(index_reduce(x[0], 0, x[1], x[2], "prod")),
           [](const Arrays& x) {
             Array out = x[0];
             for (const Index& i : indices_of(x[2].shape))
               out.at({static_cast<int64_t>(x[1].at({i[0]})), i[1]}) *= x[2].at(i);
             return out;
           })
      .compares(kFloating)
      .loose(4);
}

/// Ties and zeros, where no difference quotient says what is right.
void add_conventions(Cases& cases) {
  const auto gradient = [&](const char* name, const std::vector<double>& at, const std::vector<double>& expected,
                            const std::string& reduce, bool include_self = true) {
    const auto n = static_cast<int64_t>(at.size());
    cases
        .add(
            std::string("gradient of scatter_reduce with ") + name,
            {{given({n}, at), index({n}, std::vector<double>(at.size(), 0.0))}},
            [=](const Inputs& x) -> Outputs {
              const Tensor leaf = parameter(x[0].detach());
              const Tensor start = full({1}, 1.0, x[0].dtype(), x[0].device());
              return grad({sum(scatter_reduce(start, 0, x[1], leaf, reduce, include_self))}, {leaf})[0];
            },
            [=](const Arrays&) {
              return Array{{n}, expected};
            })
        .compares(kFloating)
        .no_gradient();
  };
  gradient("a zero", {2, 0, 4}, {0, 8, 0}, "prod");
  gradient("two zeros", {0, 0, 4}, {0, 0, 0}, "prod");
  gradient("ties", {3, 3, 2}, {0.5, 0.5, 0}, "amax");
  gradient("a tie with self", {1, 3, 2}, {0.5, 0, 0}, "amin");
  gradient("infinities without self", {-INFINITY, -INFINITY}, {0.5, 0.5}, "amax", false);
  gradient("one infinity without self", {INFINITY}, {1}, "amin", false);
  cases
      .add("scatter_reduce amax of NaN", {{given({2}, {1, NAN}), index({3}, {0, 1, 0}), given({3}, {NAN, 2, 3})}},
           CALL(scatter_reduce(x[0], 0, x[1], x[2], "amax")),
           [](const Arrays&) {
             return Array{{2}, {NAN, NAN}};
           })
      .compares(kFloating)
      .no_gradient();
}

void add_errors(Cases& cases) {
  cases.error<IndexError>(
      "scatter index", [] { scatter(ones({3}), 0, tensor({3}), ones({1})); },
      "scatter([3] f32, [1] i64, [1] f32): index 3 is out of range for an axis of size 3");
  cases.error<IndexError>(
      "scatter negative index", [] { scatter(ones({3}), 0, tensor({-1}), 2.0); },
      "scatter([3] f32, [1] i64): index -1 is out of range for an axis of size 3");
  cases.error<ShapeError>(
      "scatter source", [] { scatter(ones({3}), 0, zeros({2}, i64), ones({1})); },
      "scatter([3] f32, [2] i64, [1] f32): the index of shape [2] is larger than the source of shape [1]");
  cases.error<ShapeError>(
      "scatter source rank",
      [] {
        scatter(ones({3}), 0, zeros({2}, i64), ones({1, 2}));
      },
      "scatter([3] f32, [2] i64, [1, 2] f32): the source has 2 axes, the index 1");
  cases.error<ShapeError>(
      "scatter index rank",
      [] {
        scatter(ones({3, 3}), 0, zeros({2}, i64), ones({2}));
      },
      "scatter([3, 3] f32, [2] i64, [2] f32): the index has 1 axes, the tensor 2");
  cases.error<DtypeError>(
      "scatter index dtype", [] { scatter(ones({3}), 0, ones({2}), ones({2})); },
      "scatter([3] f32, [2] f32, [2] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<Error>(
      "scatter value", [] { scatter(ones({3}, u8), 0, tensor({0}), 256); },
      "scatter([3] u8, [1] i64): the value 256 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "scatter_reduce name", [] { scatter_reduce(ones({3}), 0, tensor({0}), ones({1}), "max"); },
      "scatter_reduce([3] f32, [1] i64, [1] f32): `max` is none of sum, prod, mean, amax and amin");
  cases.error<DtypeError>(
      "scatter_reduce mean of integers", [] { scatter_reduce(ones({3}, i64), 0, tensor({0}), ones({1}, i64), "mean"); },
      "scatter_reduce([3] i64, [1] i64, [1] i64): a mean of i64 is floating; cast first, e.g. x.to(f32)");
  cases.error<DtypeError>(
      "scatter_add to bool", [] { scatter_add(ones({3}, boolean), 0, tensor({0}), ones({1}, boolean)); },
      "scatter_add([3] bool, [1] i64, [1] bool): bool is not accepted here; it takes integers or floating dtypes; cast "
      "bool first");
  cases.error<ShapeError>(
      "index_reduce shape",
      [] {
        index_reduce(ones({3, 2}), 0, tensor({0}), ones({2, 2}), "sum");
      },
      "index_reduce([3, 2] f32, [1] i64, [2, 2] f32): the slices must have shape [1, 2], not [2, 2]");
}

}  // namespace

void add_scatter_cases(Cases& cases) {
  add_plain(cases);
  add_rows(cases);
  add_reductions(cases);
  add_conventions(cases);
  add_errors(cases);
}

}  // namespace weft::testing
