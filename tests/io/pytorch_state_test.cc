// State dicts that PyTorch saved load under its own keys, and layers give its outputs. tests/golden/state_dict.py made
// the file.
#include "tests/io/pytorch_state.h"

#include <gtest/gtest.h>

#include "io/safetensors.h"
#include "nn/nn.h"
#include "tensor/functions/compare.h"
#include "tests/io/files.h"

namespace weft {
namespace {

class PyTorchState : public ::testing::Test {
 protected:
  PyTorchState() {
    const test::Folder folder;
    test::write_bytes(folder / "state.safetensors", test::kPyTorchState);
    tensors_ = io::load_safetensors(folder / "state.safetensors");
  }
  Tensor at(const std::string& name) const { return tensors_.at(name); }
  /// `module` in evaluation with the state called `name`, all of it.
  template <class M> M loaded(const std::string& name, M module) const {
    StateDict state;
    const std::string prefix = name + ".state.";
    for (const auto& [key, tensor] : tensors_)
      if (key.starts_with(prefix)) state[key.substr(prefix.size())] = tensor;
    EXPECT_FALSE(state.empty()) << name;
    module.load_state_dict(state);
    module.eval();
    return module;
  }
  void expect_output(const std::string& name, const Tensor& y) const {
    EXPECT_TRUE(allclose(y, at(name + ".y"), 1e-5, 1e-6)) << name;
  }

 private:
  StateDict tensors_;
};

TEST_F(PyTorchState, OfAttention) {
  expect_output("attention", loaded("attention", nn::MultiheadAttention(4, 2))(at("attention.x")));
  const auto cross = loaded(
      "cross", nn::MultiheadAttention({.embed_dim = 4, .num_heads = 2, .add_bias_kv = true, .kdim = 3, .vdim = 2}));
  expect_output("cross", cross(at("cross.x"), at("cross.x1"), at("cross.x2")));
}

TEST_F(PyTorchState, OfLstm) {
  const nn::LSTMOptions options{.input_size = 3, .hidden_size = 2, .num_layers = 2, .bidirectional = true};
  expect_output("lstm", loaded("lstm", nn::LSTM(options))(at("lstm.x")).output);
}

TEST_F(PyTorchState, OfBatchNorm) {
  const auto norm = loaded("norm", nn::BatchNorm2d(3));
  EXPECT_EQ(norm.get_buffer("num_batches_tracked").item<int64_t>(), 1);
  expect_output("norm", norm(at("norm.x")));
}

TEST_F(PyTorchState, OfTransformer) {
  const nn::TransformerOptions options{.layer = {.d_model = 4, .nhead = 2, .dim_feedforward = 4, .dropout = 0},
                                       .num_encoder_layers = 1,
                                       .num_decoder_layers = 1};
  const auto transformer = loaded("transformer", nn::Transformer(options));
  expect_output("transformer", transformer(at("transformer.x"), at("transformer.x1")));
}

}  // namespace
}  // namespace weft
