// Attention and its gradient against naive ones in double, over sizes that take one block of rows and several.
#include "tensor/ops/attention.h"

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/rowwise/attention_bf16.h"
#include "tests/reference/attention.h"
#include "tests/reference/matmul.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

struct Sizes {
  int64_t heads, rows, columns, depth, width;
};

/// Everything for one run of the kernels.
struct Problem {
  Sizes n;
  AnyArray q, k, v, g, mask, y, largest, factor, dq, dk, dv;
  op::AttentionSetting setting;
  bool masked;
  bool products_of_bf16 = false;  // whether the CPU has instructions for them or not

  Problem(const Sizes& sizes, DType dtype, bool causal, std::optional<DType> mask_dtype, bool plain, Random& random)
      : n(sizes),
        q(input({n.heads, n.rows, n.depth}, dtype, plain, random)),
        k(input({n.heads, n.columns, n.depth}, dtype, plain, random)),
        v(input({n.heads, n.columns, n.width}, dtype, plain, random)),
        g(input({n.heads, n.rows, n.width}, dtype, plain, random)),
        mask(input({n.heads, n.rows, n.columns}, mask_dtype.value_or(dtype), plain, random)),
        y(output({n.heads, n.rows, n.width}, dtype, plain, random)),
        largest(output({n.heads, n.rows, 1}, dtype == f64 ? f64 : f32, true, random)),
        factor(output({n.heads, n.rows, 1}, dtype == f64 ? f64 : f32, true, random)),
        dq(output({n.heads, n.rows, n.depth}, dtype, plain, random)),
        dk(output({n.heads, n.columns, n.depth}, dtype, plain, random)),
        dv(output({n.heads, n.columns, n.width}, dtype, plain, random)),
        setting{causal, 1 / std::sqrt(static_cast<double>(sizes.depth)), 0, {}},
        masked(mask_dtype.has_value()) {}

  void run() {
    const Operand added = masked ? mask.operand() : Operand();
    if (products_of_bf16) return run_in_bf16(added);
    op::Attention{setting}.cpu(q.operand(), k.operand(), v.operand(), added, y.operand(), largest.operand(),
                               factor.operand());
    op::AttentionBackward{setting}.cpu(g.operand(), q.operand(), k.operand(), v.operand(), added, largest.operand(),
                                       factor.operand(), dq.operand(), dk.operand(), dv.operand());
  }

  void run_in_bf16(const Operand& added) {
    const Operand a = q.operand(), b = k.operand(), c = v.operand(), rows = largest.operand(), sums = factor.operand();
    const Operand da = dq.operand(), db = dk.operand(), dc = dv.operand();
    kernels::cpu::bf16_attention({a, b, c, added}, setting, y.operand(), {rows, sums});
    kernels::cpu::bf16_attention_backward(g.operand(), {a, b, c, added}, setting, {rows, sums}, {da, db, dc});
  }

  void expect_right() {
    run();
    const reference::AttentionForm form = {setting.scale, setting.causal, mask.dtype == boolean};
    const reference::Array all_q = values_of(q), all_k = values_of(k), all_v = values_of(v), all_g = values_of(g),
                           masks = values_of(mask);
    for (int64_t head = 0; head < n.heads; ++head) {
      const auto of_head = [&](const reference::Array& all) { return reference::matrix_at(all, {head}); };
      const reference::Array qs = of_head(all_q), ks = of_head(all_k), vs = of_head(all_v);
      const reference::Array seen = masked ? of_head(masks) : reference::Array{{}, {}, true};
      const reference::Array weights = reference::attention_weights(qs, ks, seen, form);
      const auto want = reference::attention_gradient(of_head(all_g), qs, ks, vs, weights, setting.scale);
      expect_head(y, head, product(weights, vs), "result");
      expect_head(dq, head, want.q, "dq");
      expect_head(dk, head, want.k, "dk");
      expect_head(dv, head, want.v, "dv");
    }
  }

 private:
  static AnyArray input(const Shape& shape, DType dtype, bool plain, Random& random) {
    return random_values(shape, dtype, plain ? Layout::row_major : kAllLayouts[pick(random, 0, 4)], random);
  }
  static AnyArray output(const Shape& shape, DType dtype, bool plain, Random& random) {
    return AnyArray(shape, dtype, plain ? Layout::row_major : kDistinctLayouts[pick(random, 0, 3)], random);
  }
  void expect_head(const AnyArray& got, int64_t head, const reference::Array& want, const std::string& what) const {
    for_each_index({got.shape()[1], got.shape()[2]}, [&](const IntList& at) {
      const double expected = want.at({at[0], at[1]});
      const double value = got.get({head, at[0], at[1]}), precision = precision_of(got.dtype);
      if (close(value, expected, 20 * precision, 60 * precision) || ::testing::Test::HasFailure()) return;
      ADD_FAILURE() << what << " of head " << head << " at " << at.to_string() << ": " << value << ", want " << expected
                    << text(" (", n.rows, " x ", n.columns, " x ", n.depth, " ", got.dtype, ")");
    });
  }
};

TEST(Attention, AgreesWithNaiveLoops) {
  Random random(71);
  for (int i = 0; i < property_cases(60); ++i) {
    const Sizes n{pick(random, 1, 3), pick(random, 0, 20), pick(random, 0, 20), pick(random, 1, 9), pick(random, 0, 9)};
    const DType dtype = kFloatingDtypes[pick(random, 0, 3)];
    const int mask = static_cast<int>(pick(random, 0, 3));
    Problem(n, dtype, mask == 3,
            mask == 1   ? std::optional(boolean)
            : mask == 2 ? std::optional(dtype)
                        : std::nullopt,
            false, random)
        .expect_right();
    if (HasFailure()) break;
  }
}

TEST(Attention, BlocksOfRows) {
  Random random(72);
  for (const Sizes& n : {Sizes{2, 64, 64, 16, 16}, Sizes{2, 128, 128, 64, 64}, Sizes{1, 130, 70, 8, 5},
                         Sizes{2, 65, 200, 8, 24}, Sizes{1, 33, 3000, 4, 4}})
    for (bool causal : {false, true})
      for (DType dtype : {f32, f64, bf16}) {
        Problem(n, dtype, causal, std::nullopt, true, random).expect_right();
        const kernels::cpu::ForceLoops loops;
        if (dtype == f32) Problem(n, dtype, causal, f32, true, random).expect_right();
        if (HasFailure()) return;
      }
}

TEST(Attention, ProductsOfBf16) {
  Random random(76);
  for (const Sizes& n : {Sizes{2, 64, 64, 16, 16}, Sizes{2, 128, 128, 64, 64}, Sizes{3, 130, 70, 8, 5},
                         Sizes{2, 65, 200, 7, 24}, Sizes{1, 33, 3000, 4, 4}, Sizes{2, 1, 3, 5, 3}})
    for (const bool causal : {false, true})
      for (const bool plain : {false, true}) {
        Problem problem(n, bf16, causal, causal ? std::optional(bf16) : std::nullopt, plain, random);
        problem.products_of_bf16 = true;
        problem.expect_right();
        if (HasFailure()) return;
      }
}

TEST(Attention, ProductsOfBf16HaveTheSameBitsForAnyThreadCount) {
  expect_same_bits_for_threads([] {
    Random random(77);
    Problem problem({6, 130, 130, 16, 16}, bf16, true, std::nullopt, true, random);
    problem.products_of_bf16 = true;
    problem.setting.dropout_p = 0.2;
    problem.setting.key = {3, 5};
    problem.run();
    return std::vector{problem.y.memory, problem.dq.memory, problem.dk.memory, problem.dv.memory};
  });
}

TEST(Attention, SameBitsForAnyThreadCount) {
  expect_same_bits_for_threads([] {
    Random random(73);
    Problem problem({6, 130, 130, 16, 16}, f64, true, std::nullopt, true, random);
    problem.setting.dropout_p = 0.2;
    problem.setting.key = {3, 5};
    problem.run();
    return std::vector{problem.y.memory, problem.dq.memory, problem.dk.memory, problem.dv.memory};
  });
}

TEST(Attention, NaNStaysInItsRow) {
  Random random(74);
  Problem problem({1, 4, 4, 3, 3}, f32, false, std::nullopt, true, random);
  problem.q.set({0, 2, 1}, std::numeric_limits<double>::quiet_NaN());
  problem.run();
  for_each_index(problem.y.shape(),
                 [&](const IntList& at) { EXPECT_EQ(std::isnan(problem.y.get(at)), at[1] == 2) << at.to_string(); });
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  Random random(75);
  Problem problem({1, 3, 3, 2, 2}, f32, false, boolean, true, random);
  for_each_index(problem.mask.shape(), [&](const IntList& at) { problem.mask.set(at, at[1] == 1 ? 0 : 1); });
  problem.expect_right();
  EXPECT_EQ(problem.y.get({0, 1, 0}), 0);
  EXPECT_EQ(problem.dq.get({0, 1, 1}), 0);
}

}  // namespace
}  // namespace weft::testing
