// Losses with further options against PyTorch, as functions and as layers, in f64. tests/golden/configurations.py makes
// the values.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/error_of.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using testing::wave;

class LossConfigurations : public ::testing::TestWithParam<std::pair<std::string, Reduction>> {
 protected:
  using In = std::vector<NamedTensor>;
  const Reduction r = GetParam().second;
  template <class F> void check(const std::string& name, const std::vector<Shape>& shapes, const F& loss) const {
    const In in = leaves_of(shapes, 2);
    check_backward(name + "." + GetParam().first, loss(in), in);
  }
  /// The same of a layer, of x and `target`, or of x and x1 where there is none.
  template <class L>
  void check_layer(const std::string& name, const std::vector<Shape>& shapes, const L& layer,
                   const Tensor& target = {}) const {
    check(name, shapes, [&](const In& x) { return layer(x[0].tensor, target.defined() ? target : x[1].tensor); });
  }
  const Tensor matrix = tensor({{1.0, -1.0, 1.0}, {-1.0, -1.0, 1.0}, {1.0, 1.0, 1.0}, {-1.0, 1.0, -1.0}}, f64);
  const Tensor signs = tensor({1.0, -1.0, -1.0, 1.0}, f64);
  const Tensor many = tensor({{2, 0, -1, 1, 1}, {-1, 0, 1, 2, 3}, {4, 3, 2, 1, 0}, {1, -1, -1, -1, -1}});
};

TEST_P(LossConfigurations, OfNumbers) {
  const std::vector<Shape> shapes = {{5}, {2, 3, 4}, {1, 6}}, two = {{4, 3}, {4, 3}};
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string end = "_" + std::to_string(i);
    const Tensor other = wave(shapes[i], 1.7, 2.0);
    check_layer("mse" + end, {shapes[i]}, MSELoss(r), other);
    check_layer("l1" + end, {shapes[i]}, L1Loss(r), other);
    check_layer("soft_margin" + end, {shapes[i]}, SoftMarginLoss(r), sign(other));
  }
  check_layer("mse_both", two, MSELoss(r));
  check_layer("l1_both", two, L1Loss(r));
  check("soft_margin_large", {{4, 3}}, [&](const In& x) { return soft_margin_loss(20.0 * x[0].tensor, matrix, r); });
  const std::vector<double> deltas = {1.0, 0.1, 3.0}, margins = {1.0, 0.0, 2.5}, sides = {0.0, 1.0, -0.5};
  for (size_t i = 0; i < 3; ++i) {
    const std::string end = "_" + std::to_string(i);
    check_layer("huber" + end, {{4, 3}}, HuberLoss({.delta = deltas[i], .reduction = r}), wave({4, 3}, 1.7, 2.0));
    check_layer("hinge" + end, {{4, 3}}, HingeEmbeddingLoss({.margin = margins[i], .reduction = r}), matrix);
    check("ranking" + end, two, [&](const In& x) {
      return MarginRankingLoss({.margin = sides[i], .reduction = r})(x[0].tensor, x[1].tensor, matrix);
    });
    check("cosine" + end, two, [&](const In& x) {
      return CosineEmbeddingLoss({.margin = sides[i], .reduction = r})(x[0].tensor, x[1].tensor, signs);
    });
  }
  check("cosine_row", {{3}, {3}}, [&](const In& x) {
    return cosine_embedding_loss(x[0].tensor, x[1].tensor, full({}, -1.0, f64), {.margin = -0.9, .reduction = r});
  });
}

TEST_P(LossConfigurations, OfSeveralClasses) {
  const Tensor t = sigmoid(wave({4, 5}, 0.1)), weight = abs(wave({5}, 2.0)) + 0.1;
  check_layer("multilabel_margin_row", {{5}}, MultiLabelMarginLoss(r), many[0]);
  check("multilabel_margin_two", {{2, 5}},
        [&](const In& x) { return multilabel_margin_loss(3.0 * x[0].tensor, narrow(many, 0, 1, 2), r); });
  check_layer("multilabel_margin_one", {{1, 5}}, MultiLabelMarginLoss(r), narrow(many, 0, 3, 1));
  check_layer("multilabel_soft_plain", {{4, 5}}, MultiLabelSoftMarginLoss({.reduction = r}), t);
  check_layer("multilabel_soft_row", {{5}}, MultiLabelSoftMarginLoss({.weight = weight, .reduction = r}), t[0]);
  check("multilabel_soft_large", {{4, 5}},
        [&](const In& x) { return multilabel_soft_margin_loss(20.0 * x[0].tensor, round(t), {.reduction = r}); });
}

TEST_P(LossConfigurations, OfSequences) {
  const CTCLoss zero({.reduction = r, .zero_infinity = true}), plain({.reduction = r});
  check("ctc_zero_infinity", {{7, 2, 5}}, [&](const In& x) {
    return zero(log_softmax(x[0].tensor, -1), tensor({{1, 2, 2}, {3, 1, 4}}), tensor({3, 7}), tensor({3, 3}));
  });
  const Tensor three = full({}, 3, i64);
  check("ctc_unbatched", {{7, 5}}, [&](const In& x) {
    return plain(log_softmax(x[0].tensor, -1), tensor({1, 2, 2}), full({}, 7, i64), three);
  });
  check("ctc_unbatched_zero", {{4, 5}}, [&](const In& x) {
    return zero(log_softmax(x[0].tensor, -1), tensor({2, 2, 2}), three, three);
  });
}

INSTANTIATE_TEST_SUITE_P(Configurations, LossConfigurations,
                         ::testing::Values(std::pair{"none", Reduction::none}, std::pair{"mean", Reduction::mean},
                                           std::pair{"sum", Reduction::sum}));

TEST(LossLayers, HoldTheirWeightsAndAreLayers) {
  EXPECT_EQ(error_of([] {
              cross_entropy(ones({2, 3}), ones({2, 3}), {.ignore_index = 1});
            }),
            "cross_entropy([2, 3] f32, [2, 3] f32): ignore_index 1 is for targets that are classes, not probabilities");
  CrossEntropyLoss loss({.weight = tensor({1.0, 2.0, 0.5}), .label_smoothing = 0.1});
  const Tensor x = wave({4, 3}, 0.2), y = tensor({0, 2, 1, 1});
  loss.to(f64);
  EXPECT_EQ(loss.get_buffer("weight").dtype(), f64);
  const Tensor expected = cross_entropy(x, y, {.weight = tensor({1.0, 2.0, 0.5}, f64), .label_smoothing = 0.1});
  EXPECT_EQ(loss(x, y).item<double>(), expected.item<double>());
  const CrossEntropyLoss other = clone(loss);
  EXPECT_EQ(other(x, y).item<double>(), expected.item<double>());
  EXPECT_FALSE(other.get_buffer("weight").shares_storage(loss.get_buffer("weight")));
  EXPECT_EQ(BCEWithLogitsLoss({.pos_weight = full({3}, 2.0)}).get_buffer("pos_weight").numel(), 3);
  EXPECT_EQ(MSELoss()(x, x * 2.0).rank(), 0);
  int calls = 0;
  loss.register_forward_hook([&](const Module&, const Tensors& in, const Tensor&) { calls += int(in.size()); });
  (void)loss(x, y);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace weft::nn
