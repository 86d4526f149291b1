// Options of recurrent layers, and lengths of what they read.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TEST(LstmOptions, RefuseAProjectionThatIsNone) {
  EXPECT_EQ(error_of([] { LSTM({.input_size = 2, .hidden_size = 3, .proj_size = 3}); }),
            "LSTM(): proj_size must be in [0, hidden_size = 3), not 3");
  EXPECT_EQ(error_of([] { GRU({.input_size = 2, .hidden_size = 3, .proj_size = 1}); }),
            "GRU(): only an LSTM has a proj_size");
  const LSTM layer({.input_size = 2, .hidden_size = 3, .proj_size = 1});
  EXPECT_EQ(layer.get_parameter("weight_hr_l0").shape(), (Shape{1, 3}));
  EXPECT_EQ(layer.to_string(), "LSTM(2, 3, proj_size=1)");
  EXPECT_EQ(error_of([&] {
              (void)layer(ones({1, 4, 2}), {}, tensor({5}));
            }),
            "LSTM([1, 4, 2] f32): a length of 5 is out of range for 4 steps");
}

template <class L> void expect_no_nan_of_padding(L layer) {
  Tensor x = weft::parameter(ones({2, 3, 2}));
  {
    NoGrad guard;
    x[1].narrow(0, 2, 1).fill_(std::numeric_limits<double>::quiet_NaN());
    x[1].narrow(0, 1, 1).fill_(std::numeric_limits<double>::infinity());
  }
  sum(layer(x, {}, tensor({3, 1})).output).backward();
  for (const NamedTensor& p : layer.named_parameters())
    EXPECT_FALSE(any(logical_not(isfinite(p.tensor.grad()))).template item<bool>()) << p.name;
  EXPECT_TRUE(equal(x.grad()[1].narrow(0, 1, 2), zeros({2, 2})));
}

TEST(Recurrent, StepsBeyondALengthMayBeNaN) {
  expect_no_nan_of_padding(LSTM(2, 3));
  expect_no_nan_of_padding(LSTM({.input_size = 2, .hidden_size = 3, .bidirectional = true, .proj_size = 2}));
  expect_no_nan_of_padding(GRU(2, 3));
  expect_no_nan_of_padding(RNN(2, 3));
}

}  // namespace
}  // namespace weft::nn
