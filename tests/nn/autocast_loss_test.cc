// Losses under Autocast: computed in f32 whatever the dtype of their inputs, as on PyTorch's list.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "nn/losses/classification.h"
#include "nn/losses/distribution.h"
#include "nn/losses/margin.h"
#include "nn/losses/regression.h"
#include "tensor/autocast.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

/// A loss of one prediction; what else it takes is of the prediction's dtype where that is a number.
struct LossRow {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& target, const Tensor& sign, Reduction)> loss;
};

const Tensor& classes() {
  static const Tensor of_rows = tensor({3, 0, 2, 4, 1, 1});
  return of_rows;
}

std::vector<LossRow> rows() {
  using T = const Tensor&;
  return {
      {"mse", [](T x, T t, T, Reduction r) { return mse_loss(x, t, r); }},
      {"l1", [](T x, T t, T, Reduction r) { return l1_loss(x, t, r); }},
      {"huber", [](T x, T t, T, Reduction r) { return huber_loss(x, t, {.delta = 0.4, .reduction = r}); }},
      {"smooth l1", [](T x, T t, T, Reduction r) { return smooth_l1_loss(x, t, {.beta = 0.4, .reduction = r}); }},
      {"smooth l1 without a square",
       [](T x, T t, T, Reduction r) { return smooth_l1_loss(x, t, {.beta = 0, .reduction = r}); }},
      {"bce with logits", [](T x, T t, T, Reduction r) { return bce_with_logits(x, t, {.reduction = r}); }},
      {"bce", [](T x, T t, T, Reduction r) { return bce(sigmoid(x), t, {.reduction = r}); }},
      {"kl div", [](T x, T t, T, Reduction r) { return kl_div(x, t, {.reduction = r}); }},
      {"focal", [](T x, T t, T, Reduction r) { return focal_loss(x, t, {.reduction = r}); }},
      {"poisson nll", [](T x, T t, T, Reduction r) { return poisson_nll_loss(x, t, {.full = true, .reduction = r}); }},
      {"gaussian nll",
       [](T x, T t, T sign, Reduction r) {
         return gaussian_nll_loss(x, t, square(sign), {.full = true, .reduction = r});
       }},
      {"soft margin", [](T x, T, T sign, Reduction r) { return soft_margin_loss(x, sign, r); }},
      {"hinge embedding", [](T x, T, T sign, Reduction r) { return hinge_embedding_loss(x, sign, {.reduction = r}); }},
      {"margin ranking",
       [](T x, T t, T sign, Reduction r) { return margin_ranking_loss(x, t, sign, {.margin = 0.3, .reduction = r}); }},
      {"cosine embedding",
       [](T x, T t, T sign, Reduction r) {
         return cosine_embedding_loss(x, t, sign.narrow(1, 0, 1).squeeze(1), {.margin = 0.1, .reduction = r});
       }},
      {"triplet margin",
       [](T x, T t, T, Reduction r) { return triplet_margin_loss(x, t, flip(t, {0}).contiguous(), {.reduction = r}); }},
      {"multi margin", [](T x, T, T, Reduction r) { return multi_margin_loss(x, classes(), {.reduction = r}); }},
      {"multilabel margin",
       [](T x, T, T, Reduction r) {
         return multilabel_margin_loss(
             x, stack({classes(), classes() * 0 - 1, classes() * 0, classes() * 0, classes() * 0}, 1), r);
       }},
      {"multilabel soft margin",
       [](T x, T t, T, Reduction r) { return multilabel_soft_margin_loss(x, t, {.reduction = r}); }},
      {"nll", [](T x, T, T, Reduction r) { return nll_loss(x, classes(), {.reduction = r}); }},
      {"cross entropy", [](T x, T, T, Reduction r) { return cross_entropy(x, classes(), {.reduction = r}); }},
  };
}

// The loss of 16-bit inputs is, bit for bit, that of the same numbers in f32, and the gradient is rounded once.
TEST(AutocastLosses, AreComputedInF32) {
  manual_seed(5);
  const Tensor x = rand({6, 5}).to(f16), target = rand({6, 5}).to(f16);
  const Tensor sign = cast(where(rand({6, 5}) > 0.5, ones({6, 5}), ones({6, 5}) * -1.0), f16);
  for (const LossRow& row : rows())
    for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
      SCOPED_TRACE(row.name + ", reduction " + std::to_string(static_cast<int>(reduction)));
      const Tensor half = parameter(x), full = parameter(x.to(f32));
      const Tensor exact = row.loss(full, target.to(f32), sign.to(f32), reduction);
      Tensor loss;
      {
        const Autocast scope(f16);
        loss = row.loss(half, target, sign, reduction);
      }
      ASSERT_EQ(loss.dtype(), f32);
      if (row.name == "bce") continue;  // its probabilities are rounded: sigmoid follows its input
      EXPECT_TRUE(equal(loss.detach(), exact.detach()));
      sum(loss).backward();
      sum(exact).backward();
      EXPECT_EQ(half.grad().dtype(), f16);
      if (row.name != "cross entropy") {  // its own backward writes f16
        EXPECT_TRUE(equal(half.grad(), full.grad().to(f16)));
      }
    }
}

TEST(AutocastLosses, FollowTheirInputsOutsideOfAScope) {
  const Tensor x = rand({4}).to(bf16);
  EXPECT_EQ(mse_loss(x, x).dtype(), bf16);
  const Autocast off = Autocast::off();
  EXPECT_EQ(mse_loss(x, x).dtype(), bf16);
}

}  // namespace
}  // namespace weft::nn
