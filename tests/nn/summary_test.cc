// The table of a model.
#include "nn/module/summary.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "nn/nn.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

struct Net : Layer<Net> {
  Conv2d conv = register_module("conv", Conv2d({.in_channels = 2, .out_channels = 4, .kernel_size = 3, .groups = 2}));
  Sequential tail = register_module("tail", Sequential(BatchNorm2d(4), Flatten(), Linear(4 * 6 * 6, 10)));
  Tensor forward(const Tensor& x) { return tail(relu(conv(x))); }
};

TEST(Summary, CountsWhatRuns) {
  Net net;
  net.tail.eval();
  const Summary table = summary(net, {5, 2, 8, 8});
  ASSERT_EQ(table.rows.size(), 6u);
  const SummaryRow& conv = table.rows[1];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.type, "Conv2d");
  EXPECT_EQ(conv.output_shape, (Shape{5, 4, 6, 6}));
  EXPECT_EQ(conv.parameters, 4 * 9 + 4);
  EXPECT_EQ(conv.multiply_adds, 5 * 4 * 36 * 9);
  const SummaryRow& linear = table.rows[5];
  EXPECT_EQ(linear.name, "tail.2");
  EXPECT_EQ(linear.output_shape, (Shape{5, 10}));
  EXPECT_EQ(linear.multiply_adds, 5 * 144 * 10);
  EXPECT_EQ(table.rows[0].output_shape, (Shape{5, 10}));
  EXPECT_EQ(table.parameters, net.parameter_count());
  EXPECT_EQ(table.multiply_adds, conv.multiply_adds + linear.multiply_adds);
}

TEST(Summary, LeavesTheModelAsItWas) {
  Net net;
  net.tail.eval();
  (void)summary(net, {2, 2, 8, 8});
  EXPECT_TRUE(net.is_training());
  EXPECT_TRUE(net.conv.is_training());
  EXPECT_FALSE(net.tail.is_training());
  EXPECT_FALSE(net.tail.at<BatchNorm2d>(0).is_training());
  EXPECT_EQ(net.get_buffer("tail.0.num_batches_tracked").item<int64_t>(), 0);
  EXPECT_FALSE(is_observed());
  EXPECT_THROW(summary(net, {2, 3, 8, 8}), ShapeError);
  EXPECT_FALSE(is_observed());
  EXPECT_FALSE(net.tail.is_training());
}

TEST(Summary, Prints) {
  Sequential net(Linear(1000, 20), ReLU());
  net.at<Linear>(0).requires_grad_(false);
  std::ostringstream out;
  out << summary(net, {1, 1000});
  EXPECT_EQ(out.str(),
            "layer         output   parameters  multiply-adds\n"
            "Sequential    [1, 20]           -              -\n"
            "  0 (Linear)  [1, 20]      20,020         20,000\n"
            "  1 (ReLU)    [1, 20]           -              -\n"
            "total                      20,020         20,000\n"
            "20,020 parameters are frozen\n");
}

TEST(Summary, ShowsTheOutputsOfLayersThatRunAsOne) {
  Sequential net(Conv2d(1, 2, 3), BatchNorm2d(2), ReLU(), MaxPool2d(2));
  const Summary table = summary(net, {1, 1, 8, 8});
  for (size_t row = 1; row < 4; ++row) EXPECT_EQ(table.rows[row].output_shape, (Shape{1, 2, 6, 6})) << row;
  EXPECT_EQ(table.rows[4].output_shape, (Shape{1, 2, 3, 3}));
}

TEST(Summary, TakesIndices) {
  Embedding table(10, 4);
  EXPECT_EQ(summary(table, {2, 3}, {.dtype = i64}).rows[0].output_shape, (Shape{2, 3, 4}));
}

struct Recurrence : Layer<Recurrence> {
  LSTM lstm = register_module("lstm", LSTM(8, 16));
  Tensor forward(const Tensor& x) const { return lstm(x).output; }
};

struct Paired : Layer<Paired> {
  Linear left = register_module("left", Linear(3, 4)), right = register_module("right", Linear(2, 4));
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& y) { return {left(x) + right(y), y}; }
};

TEST(Summary, TakesSeveralTensors) {
  Paired net;
  const Tensor x = ones({5, 3}).requires_grad_();
  const Summary table = summary(net, x, ones({5, 2}));
  EXPECT_EQ(table.rows[0].output_shape, (Shape{5, 4}));
  EXPECT_EQ(table.rows[1].multiply_adds, 5 * 3 * 4);
  EXPECT_EQ(table.rows[2].multiply_adds, 5 * 2 * 4);
  EXPECT_TRUE(net.is_training());
  Transformer model({.layer = {.d_model = 4, .nhead = 2, .dim_feedforward = 8}, .num_encoder_layers = 1});
  EXPECT_EQ(summary(model, ones({2, 3, 4}), ones({2, 5, 4})).rows[0].output_shape, (Shape{2, 5, 4}));
  LSTM lstm(3, 4);
  EXPECT_EQ(summary(lstm, ones({2, 6, 3})).rows[0].output_shape, (Shape{2, 6, 4}));
  EXPECT_EQ(error_of([&] { (void)summary(net, x, x); }),
            "in layer right (Linear): summary(): x has 3 features, weight [4, 2] takes 2");
}

TEST(Summary, CountsAttentionAndRecurrentSteps) {
  MultiheadAttention attention(16, 2);
  const Summary table = summary(attention, {3, 50, 16});
  EXPECT_EQ(table.multiply_adds, 3 * (50 * 16 * 4 * 16 + 2 * 50 * 50 * 16));
  Recurrence net;
  EXPECT_EQ(summary(net, {2, 10, 8}).multiply_adds, 2 * 10 * 4 * 16 * (8 + 16));
}

}  // namespace
}  // namespace weft::nn
