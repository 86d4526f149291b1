// Cases of shapes by name.
#include <algorithm>
#include <cmath>

#include "tensor/functions/einops.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_rearranges(Cases& cases) {
  const auto add = [&](const Shape& in, const char* pattern, const AxisSizes& sizes, const Shape& out,
                       const std::function<Index(const Index&)>& place) {
    cases
        .add(std::string("rearrange ") + pattern, {{normal(in)}}, CALL(rearrange(x[0], pattern, sizes)),
             picked(out, place))
        .accepts(kAll);
  };
  add({2, 3}, "a b -> b a", {}, {3, 2}, [](const Index& i) { return Index{i[1], i[0]}; });
  add({2, 6, 3}, "b (h d) t -> b h t d", {{"h", 2}}, {2, 2, 3, 3}, [](const Index& i) {
    return Index{i[0], i[1] * 3 + i[3], i[2]};
  });
  add({2, 3, 4}, "b h d -> b (h d)", {}, {2, 12}, [](const Index& i) { return Index{i[0], i[1] / 4, i[1] % 4}; });
  add({1, 4, 4}, "c (h p) (w q) -> (h w) (p q c)", {{"p", 2}, {"q", 2}}, {4, 4}, [](const Index& i) {
    return Index{0, i[0] / 2 * 2 + i[1] / 2, i[0] % 2 * 2 + i[1] % 2};
  });
  add({2, 3, 4}, "... c -> c ...", {}, {4, 2, 3}, [](const Index& i) { return Index{i[1], i[2], i[0]}; });
  add({2, 3, 4}, "b ... -> b (...)", {}, {2, 12}, [](const Index& i) { return Index{i[0], i[1] / 4, i[1] % 4}; });
  add({2, 1, 3}, "a 1 b -> 1 (a b)", {}, {1, 6}, [](const Index& i) { return Index{i[1] / 3, 0, i[1] % 3}; });
  add({}, "-> 1 1", {}, {1, 1}, [](const Index&) { return Index{}; });
  add({2, 3}, "a b -> a () b", {}, {2, 1, 3}, [](const Index& i) { return Index{i[0], i[2]}; });
}

void add_others(Cases& cases) {
  const Reference pooled = [](const Arrays& x) {
    return build({1, 2, 2}, [&](const Index& i) {
      double sum = 0;
      for (int64_t p = 0; p < 2; ++p)
        for (int64_t q = 0; q < 2; ++q) sum += x[0].at({i[0], 2 * i[1] + p, 2 * i[2] + q});
      return sum / 4;
    });
  };
  cases
      .add("reduce to means of tiles", {{normal({1, 4, 4})}},
           CALL(reduce(x[0], "c (h p) (w q) -> c h w", "mean", {{"p", 2}, {"q", 2}})), pooled)
      .compares(kFloating);
  cases
      .add("reduce to a sum", {{normal({2, 3})}}, CALL(reduce(x[0], "a b -> ", "sum")),
           reduction({}, false,
                     [](const auto& row) {
                       double sum = 0;
                       for (const double value : row) sum += value;
                       return sum;
                     }))
      .compares(kFloating);
  cases
      .add("reduce to largest", {{distinct({2, 3, 2})}}, CALL(reduce(x[0], "a ... -> ...", "max")),
           reduction({0}, false, [](const auto& row) { return *std::max_element(row.begin(), row.end()); }))
      .compares(kFloating);
  cases
      .add("reduce of nothing to any", {{mask({2, 3})}}, CALL(reduce(x[0], "a b -> a b", "any")),
           pointwise([](double a) { return a != 0 ? 1.0 : 0.0; }))
      .accepts(kAll)
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("reduce of nothing", {{normal({2, 3})}}, CALL(reduce(x[0], "a b -> b a", "sum")),
           picked({3, 2},
                  [](const Index& i) {
                    return Index{i[1], i[0]};
                  }))
      .compares(kFloating);
  cases
      .add("reduce of numbers", {{distinct({1, 2, 4, 6})}}, CALL(reduce(x[0], "b c (h 2) (w 3) -> b c h w", "max")),
           [](const Arrays& x) {
             return build({1, 2, 2, 2}, [&](const Index& i) {
               double largest = -INFINITY;
               for (int64_t k = 0; k < 6; ++k)
                 largest = std::max(largest, x[0].at({i[0], i[1], 2 * i[2] + k / 3, 3 * i[3] + k % 3}));
               return largest;
             });
           })
      .accepts(kAll);
  cases
      .add(
          "reduce to any and all", {{mask({3, 4})}, {mask({0, 2})}},
          [](const Inputs& x) {
            return Outputs{reduce(x[0], "a b -> a", "any"), reduce(x[0], "a b -> a", "all")};
          },
          [](const Arrays& x) {
            const auto rows = [&](bool all) {
              return build({x[0].shape[0]}, [&](const Index& i) {
                bool out = all;
                for (int64_t k = 0; k < x[0].shape[1]; ++k)
                  out = all ? out && x[0].at({i[0], k}) != 0 : out || x[0].at({i[0], k}) != 0;
                return out ? 1.0 : 0.0;
              });
            };
            return Arrays{rows(false), rows(true)};
          })
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("repeat by numbers", {{normal({2, 3})}}, CALL(repeat(x[0], "h w -> (h 2) w 3 1")),
           picked({4, 3, 3, 1},
                  [](const Index& i) {
                    return Index{i[0] / 2, i[1]};
                  }))
      .accepts(kAll);
  cases
      .add("repeat by pattern", {{normal({2, 3})}}, CALL(repeat(x[0], "a b -> (a r) s b", {{"r", 2}, {"s", 2}})),
           picked({4, 2, 3},
                  [](const Index& i) {
                    return Index{i[0] / 2, i[2]};
                  }))
      .accepts(kAll);
}

void add_errors(Cases& cases) {
  const auto error = [&](const char* name, const char* pattern, const AxisSizes& sizes, const char* message) {
    cases.error<Error>(
        std::string("rearrange ") + name,
        [=] {
          rearrange(ones({2, 3}), pattern, sizes);
        },
        std::string("rearrange([2, 3] f32): ") + message);
  };
  error("without an arrow", "a b", {}, "`a b` must have one ->");
  error("with two arrows", "a b -> b a -> a b", {}, "`a b -> b a -> a b` must have one ->");
  error("with a name on one side", "a b -> a", {}, "`b` is on one side of `a b -> a` only");
  error("with a new name", "a b -> a b c", {}, "`c` is on one side of `a b -> a b c` only");
  error("with a name twice", "a a -> a", {}, "`a` comes twice in `a a `");
  error("with an open parenthesis", "(a b c -> a b", {}, "a ( in `(a b c ` is not closed");
  error("with a stray character", "a b) -> a b", {}, "`)` in `a b) ` is not a name, number, ..., or parenthesis");
  error("with a number on one side", "a 3 -> a", {}, "`3` is on one side of `a 3 -> a` only");
  error("with a size of 0", "a b -> a b 0", {}, "`0` in ` a b 0` is not a size of an axis: 1 or more");
  error("with a name that begins with a digit", "a 2b -> a", {}, "`2b` in `a 2b ` is not a size of an axis: 1 or more");
  error("with an unknown size", "a b -> b a", {{"c", 2}}, "`c` is not in `a b -> b a`");
  error("with merged dots on the left", "(...) -> ...", {},
        "... in parentheses on the left side of `(...) -> ...` has no sizes");
  error("with dots that are dropped", "a b ... -> a b", {}, "`a b ... -> a b` has ... on the left side only");
  error("with dots on the right", "a b -> a b ...", {}, "`a b -> a b ...` has ... on the right side only");
  cases.error<ShapeError>(
      "rearrange axes",
      [] {
        rearrange(ones({2, 3}), "a b c -> c b a");
      },
      "rearrange([2, 3] f32): `a b c -> c b a` has 3 axes on the left side, the tensor 2");
  cases.error<ShapeError>(
      "rearrange size",
      [] {
        rearrange(ones({2, 3}), "a b -> b a", {{"a", 4}});
      },
      "rearrange([2, 3] f32): axis 0 has size 2, the pattern says 4");
  cases.error<ShapeError>(
      "rearrange parts",
      [] {
        rearrange(ones({2, 3}), "a (b c) -> a b c", {{"b", 2}});
      },
      "rearrange([2, 3] f32): axis 1 of size 3 does not split into parts of 2");
  cases.error<Error>(
      "rearrange two unknown sizes",
      [] {
        rearrange(ones({2, 3}), "a (b c) -> a b c");
      },
      "rearrange([2, 3] f32): the sizes of `b` and `c` are not known; give one of them");
  cases.error<Error>(
      "reduce name",
      [] {
        reduce(ones({2, 3}), "a b -> a", "avg");
      },
      "reduce([2, 3] f32): `avg` is none of sum, mean, max, min, prod, any and all");
  cases.error<Error>(
      "reduce name over no axes",
      [] {
        reduce(ones({2, 3}), "a b -> b a", "avg");
      },
      "reduce([2, 3] f32): `avg` is none of sum, mean, max, min, prod, any and all");
  cases.error<Error>(
      "rearrange a size of dots",
      [] {
        rearrange(ones({2, 3}), "... -> ...", {{"...", 2}});
      },
      "rearrange([2, 3] f32): ... takes no size, as it stands for any number of axes");
  cases.error<Error>(
      "repeat size",
      [] {
        repeat(ones({2, 3}), "a b -> a b c");
      },
      "repeat([2, 3] f32): the size of `c` is not given");
}

}  // namespace

void add_einops_cases(Cases& cases) {
  add_rearranges(cases);
  add_others(cases);
  add_errors(cases);
}

}  // namespace weft::testing
