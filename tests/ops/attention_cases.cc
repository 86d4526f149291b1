// Cases of attention.
#include <cmath>
#include <limits>

#include "tensor/core/random.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/reference/attention.h"
#include "tests/reference/matmul.h"

namespace weft::testing {

namespace {

constexpr uint64_t kSeed = 7;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// The options of a case, without the mask.
struct Form {
  bool causal = false;
  std::optional<double> scale = std::nullopt;
  double dropout_p = 0;
  bool bool_mask = false;

  AttentionOptions options(const Tensor& mask) const {
    manual_seed(kSeed);
    return {.mask = mask, .causal = causal, .scale = scale, .dropout_p = dropout_p};
  }
  /// 0 or 1 / (1 - p) for a column of row number `row`, counted over all heads.
  double kept(int64_t row, int64_t column, int64_t columns) const {
    if (dropout_p == 0) return 1;
    manual_seed(kSeed);
    const auto place = static_cast<uint64_t>(row * ((columns + 3) / 4 * 4) + column);
    const bool drops =
        random_bits(next_random_key(0), place) < static_cast<uint64_t>(std::nearbyint(dropout_p * 0x1p32));
    return drops ? 0 : 1 / (1 - dropout_p);
  }
};

Array attend(const Form& form, const Array& q, const Array& k, const Array& v, const Array& mask) {
  using namespace reference;
  const AttentionForm one = {form.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1)))), form.causal,
                             form.bool_mask};
  const int64_t rows = q.size(-2), columns = k.size(-2);
  const Shape batch = broadcast_of(broadcast_of(batch_of(q.shape), batch_of(k.shape)), batch_of(v.shape));
  Array out{batch, {}};
  out.shape.push_back(rows), out.shape.push_back(v.size(-1));
  Shape scores = batch;
  scores.push_back(rows), scores.push_back(columns);
  const Array seen = mask.absent ? mask : build(scores, [&](const Index& at) { return broadcast_at(mask, at); });
  int64_t row = 0;  // over all heads
  for (const Index& at : indices_of(batch)) {
    Array weights =
        attention_weights(matrix_at(q, at), matrix_at(k, at), mask.absent ? mask : matrix_at(seen, at), one);
    for (int64_t i = 0; i < rows; ++i, ++row)
      for (int64_t j = 0; j < columns; ++j) weights.at({i, j}) *= form.kept(row, j, columns);
    const Array head = product(weights, matrix_at(v, at));
    out.values.insert(out.values.end(), head.values.begin(), head.values.end());
  }
  return out;
}

OpCase& add(Cases& cases, const std::string& name, const Form& form, const std::vector<Sample>& samples) {
  return cases
      .add("attention " + name, samples,
           CALL(scaled_dot_product_attention(x[0], x[1], x[2], form.options(x.size() > 3 ? x[3] : Tensor()))),
           [form](const Arrays& x) {
             return attend(form, x[0], x[1], x[2], x.size() > 3 ? x[3] : Array{{}, {}, true});
           })
      .accepts(kFloating)
      .loose(20);
}

/// Array x (..., H, T, D) with each head `times` times in succession.
Array repeated_heads(const Array& x, int64_t times) {
  Shape shape = x.shape;
  shape[shape.size() - 3] *= times;
  return build(shape, [&](Index at) {
    at[at.size() - 3] /= times;
    return x.at(at);
  });
}

void add_grouped(Cases& cases) {
  const auto grouped = [&](const std::string& name, const Form& form, const std::vector<Sample>& samples) {
    cases
        .add(
            "attention of grouped queries" + name, samples,
            [form](const Inputs& x) -> Outputs {
              AttentionOptions options = form.options(x.size() > 3 ? x[3] : Tensor());
              options.enable_gqa = true;
              return scaled_dot_product_attention(x[0], x[1], x[2], options);
            },
            [form](const Arrays& x) {
              const int64_t times = x[0].size(-3) / x[1].size(-3);
              return attend(form, x[0], repeated_heads(x[1], times), repeated_heads(x[2], times),
                            x.size() > 3 ? x[3] : Array{{}, {}, true});
            })
        .accepts(kFloating)
        .loose(20);
  };
  grouped("", {},
          {{normal({2, 4, 3, 2}), normal({2, 2, 5, 2}), normal({2, 2, 5, 1})},
           {normal({6, 3, 2}), normal({1, 3, 2}), normal({1, 3, 2})}});
  grouped(", causal", {.causal = true}, {{normal({4, 3, 2}), normal({2, 3, 2}), normal({2, 3, 2})}});
  grouped(", masked", {.bool_mask = true},
          {{normal({4, 3, 2}), normal({2, 3, 2}), normal({2, 3, 2}), mask({4, 3, 3})},
           {normal({4, 3, 2}), normal({2, 3, 2}), normal({2, 3, 2}), mask({1, 3, 3})},
           {normal({4, 3, 2}), normal({2, 3, 2}), normal({2, 3, 2}), mask({3, 3})}});
  cases.error<ShapeError>(
      "attention of grouped queries that do not divide",
      [] {
        scaled_dot_product_attention(ones({4, 2, 2}), ones({3, 2, 2}), ones({3, 2, 2}), {.enable_gqa = true});
      },
      "scaled_dot_product_attention([4, 2, 2] f32, [3, 2, 2] f32, [3, 2, 2] f32): the heads of k and v, 3 and 3, must "
      "be one number that divides the 4 of q");
}

/// Part number `part` of qkv (..., T, 3 heads D) as (..., heads, T, D).
Array part_of(const Array& qkv, int64_t heads, int64_t part) {
  const int64_t depth = qkv.size(-1) / (3 * heads);
  Shape shape(qkv.shape.begin(), qkv.shape.end() - 1);
  shape.insert(shape.size() - 1, heads);
  shape.push_back(depth);
  return build(shape, [&](const Index& at) {
    Index from(at.begin(), at.end() - 3);
    from.push_back(at[at.size() - 2]);
    from.push_back((part * heads + at[at.size() - 3]) * depth + at.back());
    return qkv.at(from);
  });
}

void add_packed(Cases& cases, const std::string& name, int64_t heads, const Form& form,
                const std::vector<Sample>& samples) {
  cases
      .add("packed attention " + name, samples, CALL(packed_attention(x[0], heads, form.options(x[1]))),
           [=](const Arrays& x) {
             const Array y =
                 attend(form, part_of(x[0], heads, 0), part_of(x[0], heads, 1), part_of(x[0], heads, 2), x[1]);
             Shape shape = x[0].shape;
             shape[shape.size() - 1] /= 3;
             return build(shape, [&](const Index& at) {
               const int64_t depth = y.size(-1);
               Index from(at.begin(), at.end() - 2);
               for (int64_t i : {at.back() / depth, at[at.size() - 2], at.back() % depth}) from.push_back(i);
               return y.at(from);
             });
           })
      .accepts(kFloating)
      .loose(20);
}

InputSpec constant(InputSpec spec) {
  spec.differentiable = false;
  return spec;
}

void add_masked(Cases& cases) {
  const double h = kHidden;
  add(cases, "bool mask", {.bool_mask = true},
      {{normal({3, 2}), normal({4, 2}), normal({4, 2}), mask({3, 4})},
       {normal({2, 2}), normal({19, 2}), normal({19, 2}), mask({2, 19})},  // more than a register of keys
       {normal({5, 2}), normal({19, 2}), normal({19, 2}), mask({19})},     // and more queries than are few
       {normal({2, 2, 3, 2}), normal({2, 2, 3, 2}), normal({2, 2, 3, 1}), mask({2, 1, 1, 3})}});
  InputSpec rows = given({3, 2}, {1, 0, 0, 0, 1, 1});  // the second row sees nothing
  rows.dtype = boolean;
  add(cases, "row that sees nothing", {.bool_mask = true},
      {{normal({3, 2}), normal({2, 2}), normal({2, 2}), constant(rows)}});
  add(cases, "added mask", {},
      {{normal({3, 2}), normal({4, 2}), normal({4, 2}), normal({3, 4})},
       {normal({2, 3, 2}), normal({2, 3, 2}), normal({2, 3, 2}), normal({3})},
       {normal({3, 2}), normal({3, 2}), normal({3, 2}), constant(normal({3, 3}))},
       {normal({3, 2}), normal({3, 2}), normal({3, 2}), constant(given({3, 3}, {0, h, 1, h, h, h, -1, 2, h}))}});
}

void add_errors(Cases& cases) {
  const auto error = [&]<class E>(const std::string& name, auto call, const std::string& text) {
    cases.error<E>(
        "attention " + name,
        [=] {
          call(ones({2, 3}));
        },
        "scaled_dot_product_attention([2, 3] f32, " + text);
  };
  error.operator()<ShapeError>(
      "depth",
      [](const Tensor& x) {
        scaled_dot_product_attention(x, ones({2, 4}), x);
      },
      "[2, 4] f32, [2, 3] f32): q and k differ in depth: 3 and 4");
  error.operator()<ShapeError>(
      "length",
      [](const Tensor& x) {
        scaled_dot_product_attention(x, x, ones({4, 3}));
      },
      "[2, 3] f32, [4, 3] f32): k and v differ in length: 2 and 4");
  error.operator()<ShapeError>(
      "rank", [](const Tensor& x) { scaled_dot_product_attention(x, ones({3}), x); },
      "[3] f32, [2, 3] f32): q, k and v need two axes or more, not [3]");
  const std::string same = "[2, 3] f32, [2, 3] f32): ";
  error.operator()<Error>(
      "mask and causal",
      [](const Tensor& x) {
        scaled_dot_product_attention(x, x, x, {.mask = ones({2, 2}), .causal = true});
      },
      same + "there is a mask and `causal`; give one of them");
  error.operator()<DtypeError>(
      "mask dtype",
      [](const Tensor& x) {
        scaled_dot_product_attention(x, x, x, {.mask = ones({2, 2}, i64)});
      },
      same + "the mask must be bool or floating, not i64");
  error.operator()<ShapeError>(
      "mask shape",
      [](const Tensor& x) {
        scaled_dot_product_attention(x, x, x, {.mask = ones({3, 2, 2})});
      },
      same + "the mask must broadcast to [2, 2], not be [3, 2, 2]");
  error.operator()<Error>(
      "dropout", [](const Tensor& x) { scaled_dot_product_attention(x, x, x, {.dropout_p = 1.5}); },
      same + "dropout_p = 1.5 must lie between 0 and 1");
  cases.error<ShapeError>(
      "packed attention heads",
      [] {
        packed_attention(ones({2, 8}), 2);
      },
      "packed_attention([2, 8] f32): the last axis, of 8, does not divide into q, k and v of 2 heads");
}

}  // namespace

void add_attention_cases(Cases& cases) {
  add(cases, "plain", {},
      {{normal({3, 2}), normal({4, 2}), normal({4, 3})},
       {normal({1, 1}), normal({1, 1}), normal({1, 1})},
       {normal({2, 3, 2}), normal({2, 2, 2}), normal({2, 2, 1})},
       {normal({2, 2, 3, 2}), normal({2, 2, 3, 2}), normal({2, 2, 3, 2})},
       {normal({2, 1, 2, 2}), normal({3, 2, 2}), normal({2, 3})},
       {normal({0, 2}), normal({3, 2}), normal({3, 2})},
       {normal({2, 2}), normal({0, 2}), normal({0, 2})},
       {normal({2, 2}), normal({3, 2}), normal({3, 0})},
       {normal({0, 2, 2}), normal({0, 3, 2}), normal({0, 3, 2})}});
  add(cases, "causal", {.causal = true},
      {{normal({4, 2}), normal({4, 2}), normal({4, 3})},
       {normal({2, 5, 2}), normal({2, 3, 2}), normal({2, 3, 1})},
       {normal({2, 2}), normal({5, 2}), normal({5, 2})},
       {normal({2, 2, 3, 2}), normal({2, 2, 3, 2}), normal({2, 2, 3, 2})},
       {normal({67, 2}), normal({67, 2}), normal({67, 1})}});
  add(cases, "scale", {.scale = -0.7}, {{normal({3, 2}), normal({4, 2}), normal({4, 2})}});
  add(cases, "dropout", {.dropout_p = 0.4},
      {{normal({2, 3, 2}), normal({2, 5, 2}), normal({2, 5, 2})}, {normal({67, 2}), normal({3, 2}), normal({3, 1})}});
  add(cases, "causal dropout", {.causal = true, .dropout_p = 0.3},
      {{normal({2, 4, 2}), normal({2, 4, 2}), normal({2, 4, 2})}});
  add(cases, "all dropped", {.dropout_p = 1}, {{normal({2, 2}), normal({3, 2}), normal({3, 2})}});
  add_masked(cases);
  add_grouped(cases);
  add_packed(cases, "causal", 2, {.causal = true},
             {{normal({3, 12}), absent()}, {normal({2, 4, 6}), absent()}, {normal({2, 0, 6}), absent()}});
  add_packed(cases, "plain", 1, {}, {{normal({2, 3, 6}), absent()}, {normal({2, 3, 6}), normal({1, 1, 3})}});
  add_packed(cases, "bool mask", 2, {.dropout_p = 0.3, .bool_mask = true}, {{normal({2, 3, 6}), mask({2, 1, 3, 3})}});
  add_errors(cases);
}

}  // namespace weft::testing
