// How every layer and loss prints, and that its clone has the same tensors. tests/layers_test checks that none is
// missing.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/fill.h"

namespace weft::nn {
namespace {

/// The same names, shapes and dtypes in one order.
void expect_alike(const std::vector<NamedTensor>& copies, const std::vector<NamedTensor>& originals,
                  const std::string& layer) {
  ASSERT_EQ(copies.size(), originals.size()) << layer;
  for (size_t i = 0; i < copies.size(); ++i) {
    const std::string where = layer + ": " + originals[i].name;
    EXPECT_EQ(copies[i].name, originals[i].name) << where;
    EXPECT_EQ(copies[i].tensor.shape(), originals[i].tensor.shape()) << where;
    EXPECT_EQ(copies[i].tensor.dtype(), originals[i].tensor.dtype()) << where;
  }
}

/// The layer prints as `expected`, and clone() gives one that prints the same and has tensors of the same names, shapes
/// and dtypes.
template <class M> void expect_prints(const M& layer, const std::string& expected) {
  EXPECT_EQ(layer.to_string(), expected);
  const M copy = clone(layer);
  EXPECT_EQ(copy.to_string(), expected);
  expect_alike(copy.named_parameters(), layer.named_parameters(), expected);
  expect_alike(copy.buffers(), layer.buffers(), expected);
}

TEST(Print, Activations) {
  expect_prints(ReLU(), "ReLU()");
  expect_prints(LeakyReLU(0.2), "LeakyReLU(negative_slope=0.2)");
  expect_prints(GELU(), "GELU()");
  expect_prints(GELU(Gelu::tanh), "GELU(approximate=tanh)");
  expect_prints(Softplus(), "Softplus()");
  expect_prints(Softplus(2), "Softplus(beta=2, threshold=20)");
  expect_prints(Softmax(1), "Softmax(axis=1)");
  expect_prints(LogSoftmax(0), "LogSoftmax(axis=0)");
  expect_prints(Softmin(), "Softmin(axis=-1)");
  expect_prints(GLU(0), "GLU(axis=0)");
  expect_prints(ELU(), "ELU(alpha=1)");
  expect_prints(CELU(0.5), "CELU(alpha=0.5)");
  expect_prints(Hardtanh(-2, 3), "Hardtanh(min=-2, max=3)");
  expect_prints(Threshold(0.1, 20), "Threshold(threshold=0.1, value=20)");
  expect_prints(Softshrink(0.3), "Softshrink(0.3)");
  expect_prints(Hardshrink(), "Hardshrink(0.5)");
  expect_prints(PReLU(3), "PReLU(num_parameters=3)");
  expect_prints(RReLU(0.1, 0.3), "RReLU(lower=0.1, upper=0.3)");
  expect_prints(SiLU(), "SiLU()");
  expect_prints(Sigmoid(), "Sigmoid()");
  expect_prints(Tanh(), "Tanh()");
  expect_prints(SELU(), "SELU()");
  expect_prints(Mish(), "Mish()");
  expect_prints(Hardswish(), "Hardswish()");
  expect_prints(Hardsigmoid(), "Hardsigmoid()");
  expect_prints(ReLU6(), "ReLU6()");
  expect_prints(LogSigmoid(), "LogSigmoid()");
  expect_prints(Softsign(), "Softsign()");
  expect_prints(Tanhshrink(), "Tanhshrink()");
  expect_prints(Softmax2d(), "Softmax2d()");
}

TEST(Print, Convolutions) {
  expect_prints(Conv1d(3, 4, 5), "Conv1d(3, 4, kernel_size=5, stride=1)");
  expect_prints(Conv2d({.in_channels = 4,
                        .out_channels = 6,
                        .kernel_size = {3, 5},
                        .stride = 2,
                        .padding = {1, 2},
                        .dilation = 2,
                        .groups = 2,
                        .bias = false,
                        .padding_mode = PadMode::reflect}),
                "Conv2d(4, 6, kernel_size={3, 5}, stride=2, padding={1, 2}, dilation=2, groups=2, bias=false, "
                "padding_mode=reflect)");
  expect_prints(Conv3d({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .padding = same}),
                "Conv3d(1, 1, kernel_size=3, stride=1, padding=same)");
  expect_prints(ConvTranspose1d({.in_channels = 2,
                                 .out_channels = 4,
                                 .kernel_size = 3,
                                 .stride = 2,
                                 .padding = 1,
                                 .output_padding = 1,
                                 .groups = 2,
                                 .bias = false,
                                 .dilation = 3}),
                "ConvTranspose1d(2, 4, kernel_size=3, stride=2, padding=1, output_padding=1, groups=2, bias=false, "
                "dilation=3)");
  expect_prints(ConvTranspose2d(1, 2, 3), "ConvTranspose2d(1, 2, kernel_size=3, stride=1)");
  expect_prints(ConvTranspose3d(1, 2, 3), "ConvTranspose3d(1, 2, kernel_size=3, stride=1)");
}

TEST(Print, PoolsAndWindows) {
  expect_prints(MaxPool2d({.kernel_size = {3, 2}, .stride = 2, .padding = 1, .ceil_mode = true}),
                "MaxPool2d(kernel_size={3, 2}, stride=2, padding=1, ceil_mode=true)");
  expect_prints(MaxPool1d({.kernel_size = 2, .dilation = 3}),
                "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=3)");
  expect_prints(AvgPool3d({.kernel_size = 2, .count_include_pad = false, .divisor_override = 3}),
                "AvgPool3d(kernel_size=2, stride=2, padding=0, count_include_pad=false, divisor_override=3)");
  expect_prints(MaxPool3d(2), "MaxPool3d(kernel_size=2, stride=2, padding=0)");
  expect_prints(AvgPool1d(2), "AvgPool1d(kernel_size=2, stride=2, padding=0)");
  expect_prints(AvgPool2d({.kernel_size = {2, 3}, .padding = 1}),
                "AvgPool2d(kernel_size={2, 3}, stride={2, 3}, padding=1)");
  expect_prints(LPPool1d(1, 3), "LPPool1d(norm_type=1, kernel_size=3, stride=3)");
  expect_prints(LPPool3d(2, 2), "LPPool3d(norm_type=2, kernel_size=2, stride=2)");
  expect_prints(LPPool2d(3, 2), "LPPool2d(norm_type=3, kernel_size=2, stride=2)");
  expect_prints(AdaptiveAvgPool2d({3, 4}), "AdaptiveAvgPool2d(output_size={3, 4})");
  expect_prints(AdaptiveMaxPool1d(5), "AdaptiveMaxPool1d(output_size=5)");
  expect_prints(AdaptiveAvgPool1d(2), "AdaptiveAvgPool1d(output_size=2)");
  expect_prints(AdaptiveAvgPool3d({1, 2, 3}), "AdaptiveAvgPool3d(output_size={1, 2, 3})");
  expect_prints(AdaptiveMaxPool2d(3), "AdaptiveMaxPool2d(output_size=3)");
  expect_prints(AdaptiveMaxPool3d(4), "AdaptiveMaxPool3d(output_size=4)");
  expect_prints(FractionalMaxPool2d({.kernel_size = 3, .output_size = {4, 5}}),
                "FractionalMaxPool2d(kernel_size=3, output_size={4, 5})");
  expect_prints(FractionalMaxPool3d({.kernel_size = {1, 2, 2}, .output_ratio = {0.5, 0.4, 0.4}}),
                "FractionalMaxPool3d(kernel_size={1, 2, 2}, output_ratio={0.5, 0.4, 0.4})");
  expect_prints(MaxUnpool2d(2), "MaxUnpool2d(kernel_size=2, stride=2, padding=0)");
  expect_prints(MaxUnpool1d(3), "MaxUnpool1d(kernel_size=3, stride=3, padding=0)");
  expect_prints(MaxUnpool3d(2), "MaxUnpool3d(kernel_size=2, stride=2, padding=0)");
  expect_prints(Unfold(3), "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)");
  expect_prints(Fold({5, 6}, 2), "Fold(output_size={5, 6}, kernel_size=2, dilation=1, padding=0, stride=1)");
  expect_prints(PixelShuffle(2), "PixelShuffle(upscale_factor=2)");
  expect_prints(PixelUnshuffle(3), "PixelUnshuffle(downscale_factor=3)");
  expect_prints(ChannelShuffle(4), "ChannelShuffle(groups=4)");
  expect_prints(Upsample({.scale = 2.0, .mode = Interpolation::bilinear, .align_corners = true}),
                "Upsample(scale=2, mode=bilinear, align_corners=true)");
  expect_prints(Upsample({.size = {4, 5}}), "Upsample(size=[4, 5], mode=nearest)");
  expect_prints(Upsample({.scale = {1.5, 2}}), "Upsample(scale={1.5, 2}, mode=nearest)");
}

TEST(Print, Pads) {
  expect_prints(ZeroPad1d(2), "ZeroPad1d(2, 2)");
  expect_prints(ZeroPad2d(1), "ZeroPad2d(1, 1, 1, 1)");
  expect_prints(ZeroPad3d(1), "ZeroPad3d(1, 1, 1, 1, 1, 1)");
  expect_prints(ReflectionPad1d(1, 2), "ReflectionPad1d(1, 2)");
  expect_prints(ReflectionPad2d(1, 2, 3, 4), "ReflectionPad2d(1, 2, 3, 4)");
  expect_prints(ReflectionPad3d(1), "ReflectionPad3d(1, 1, 1, 1, 1, 1)");
  expect_prints(ReplicationPad1d(1, 2), "ReplicationPad1d(1, 2)");
  expect_prints(ReplicationPad2d(3), "ReplicationPad2d(3, 3, 3, 3)");
  expect_prints(ReplicationPad3d(1, 2, 3, 4, 5, 6), "ReplicationPad3d(1, 2, 3, 4, 5, 6)");
  expect_prints(CircularPad2d(1, 0, -2, 0), "CircularPad2d(1, 0, -2, 0)");
  expect_prints(CircularPad1d(1, 2), "CircularPad1d(1, 2)");
  expect_prints(CircularPad3d(1), "CircularPad3d(1, 1, 1, 1, 1, 1)");
  expect_prints(ConstantPad1d(1, 2, 3.5), "ConstantPad1d(1, 2, value=3.5)");
  expect_prints(ConstantPad2d(1, 2), "ConstantPad2d(1, 1, 1, 1, value=2)");
  expect_prints(ConstantPad3d(1, -1.5), "ConstantPad3d(1, 1, 1, 1, 1, 1, value=-1.5)");
}

TEST(Print, Norms) {
  expect_prints(BatchNorm1d(3), "BatchNorm1d(3, eps=1e-05)");
  expect_prints(BatchNorm2d({.num_features = 3, .momentum = std::nullopt, .affine = false}),
                "BatchNorm2d(3, eps=1e-05, momentum=none, affine=false)");
  expect_prints(BatchNorm3d({.num_features = 3, .momentum = 0.2, .track_running_stats = false}),
                "BatchNorm3d(3, eps=1e-05, momentum=0.2, track_running_stats=false)");
  expect_prints(InstanceNorm1d({.num_features = 3, .affine = true, .track_running_stats = true}),
                "InstanceNorm1d(3, eps=1e-05, affine=true, track_running_stats=true)");
  expect_prints(InstanceNorm2d(2), "InstanceNorm2d(2, eps=1e-05)");
  expect_prints(InstanceNorm3d({.num_features = 2, .eps = 0.1}), "InstanceNorm3d(2, eps=0.1)");
  expect_prints(LayerNorm({4, 5}), "LayerNorm([4, 5], eps=1e-05)");
  expect_prints(LayerNorm({.normalized_shape = {4}, .bias = false}), "LayerNorm([4], eps=1e-05, bias=false)");
  expect_prints(LayerNorm({.normalized_shape = {4}, .affine = false}), "LayerNorm([4], eps=1e-05, affine=false)");
  expect_prints(RMSNorm({4, 5}), "RMSNorm([4, 5])");
  expect_prints(RMSNorm({.normalized_shape = {6}, .eps = 0.1, .affine = false}), "RMSNorm([6], eps=0.1, affine=false)");
  expect_prints(GroupNorm({.num_groups = 2, .num_channels = 4, .affine = false}),
                "GroupNorm(2, 4, eps=1e-05, affine=false)");
  expect_prints(LocalResponseNorm(3), "LocalResponseNorm(3, alpha=1e-04, beta=0.75, k=1)");
}

TEST(Print, TablesAndForms) {
  expect_prints(Linear({.in_features = 2, .out_features = 3, .bias = false, .dtype = f64}),
                "Linear(in_features=2, out_features=3, bias=false)");
  expect_prints(Bilinear({.in1_features = 2, .in2_features = 3, .out_features = 4, .bias = false}),
                "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=false)");
  expect_prints(Embedding({.num_embeddings = 5, .embedding_dim = 2, .padding_idx = -1}),
                "Embedding(5, 2, padding_idx=-1)");
  expect_prints(EmbeddingBag({.num_embeddings = 5, .embedding_dim = 2, .mode = EmbeddingBag::Mode::max}),
                "EmbeddingBag(5, 2, mode=max)");
  expect_prints(PairwiseDistance({.p = 1, .keepdim = true}), "PairwiseDistance(p=1, eps=1e-06, keepdim=true)");
  expect_prints(CosineSimilarity(), "CosineSimilarity(axis=1, eps=1e-08)");
  expect_prints(Flatten(), "Flatten(start=1, end=-1)");
  expect_prints(Unflatten(1, {2, -1}), "Unflatten(axis=1, sizes=[2, -1])");
  expect_prints(Identity(), "Identity()");
  expect_prints(Lambda([](const Tensor& x) { return x; }), "Lambda()");
  expect_prints(Dropout(0.3), "Dropout(p=0.3)");
  expect_prints(Dropout1d(0.1), "Dropout1d(p=0.1)");
  expect_prints(Dropout2d(0.2), "Dropout2d(p=0.2)");
  expect_prints(Dropout3d(), "Dropout3d(p=0.5)");
  expect_prints(AlphaDropout(), "AlphaDropout(p=0.5)");
  expect_prints(FeatureAlphaDropout(0.1), "FeatureAlphaDropout(p=0.1)");
}

TEST(Print, SequenceLayers) {
  expect_prints(
      LSTM({.input_size = 3, .hidden_size = 4, .num_layers = 2, .bias = false, .dropout = 0.1, .bidirectional = true}),
      "LSTM(3, 4, num_layers=2, bias=false, dropout=0.1, bidirectional=true)");
  expect_prints(RNN({.input_size = 3, .hidden_size = 4, .nonlinearity = RNN::Nonlinearity::relu}),
                "RNN(3, 4, nonlinearity=relu)");
  expect_prints(GRU(3, 4), "GRU(3, 4)");
  expect_prints(RNNCell({.input_size = 3, .hidden_size = 4, .nonlinearity = RNN::Nonlinearity::relu}),
                "RNNCell(3, 4, nonlinearity=relu)");
  expect_prints(LSTMCell({.input_size = 3, .hidden_size = 4, .bias = false}), "LSTMCell(3, 4, bias=false)");
  expect_prints(GRUCell(3, 4), "GRUCell(3, 4)");
  expect_prints(MultiheadAttention({.embed_dim = 8, .num_heads = 4, .dropout = 0.1, .bias = false, .num_kv_heads = 2}),
                "MultiheadAttention(\n"
                "  embed_dim=8, num_heads=4, dropout=0.1, num_kv_heads=2, bias=false\n"
                "  (out_proj): Linear(in_features=8, out_features=8, bias=false)\n"
                ")");
}

TEST(Print, Transformers) {
  const TransformerEncoderLayerOptions layer{
      .d_model = 4, .nhead = 2, .dim_feedforward = 8, .activation = TransformerEncoderLayer::Activation::gelu};
  const TransformerEncoderLayer encoder(layer);
  EXPECT_TRUE(encoder.to_string().starts_with(
      "TransformerEncoderLayer(\n  4, 2, dim_feedforward=8, activation=gelu\n  (self_attn): MultiheadAttention(\n"));
  expect_prints(encoder, encoder.to_string());
  const TransformerDecoderLayer decoder(layer);
  expect_prints(decoder, decoder.to_string());
  const TransformerStackOptions two{.layer = layer, .num_layers = 2, .norm = true};
  const TransformerEncoder encoders(two);
  EXPECT_TRUE(encoders.to_string().starts_with("TransformerEncoder(\n")) << encoders.to_string();
  expect_prints(encoders, encoders.to_string());
  const TransformerDecoder decoders(two);
  EXPECT_TRUE(decoders.to_string().starts_with("TransformerDecoder(\n")) << decoders.to_string();
  expect_prints(decoders, decoders.to_string());
  const Transformer whole({.layer = layer, .num_encoder_layers = 2, .num_decoder_layers = 1});
  expect_prints(whole, whole.to_string());
  const BasicBlock block(2, 4, 2);
  expect_prints(block, block.to_string());
}

TEST(Print, Containers) {
  const std::string line = "Linear(in_features=2, out_features=3, bias=true)";
  expect_prints(Sequential(Linear(2, 3), ReLU()), "Sequential(\n  (0): " + line + "\n  (1): ReLU()\n)");
  ModuleList<Linear> list;
  list.push_back(Linear(2, 3));
  expect_prints(list, "ModuleList<Linear>(\n  (0): " + line + "\n)");
  ModuleDict<Linear> dict;
  dict.insert("a", Linear(2, 3));
  expect_prints(dict, "ModuleDict<Linear>(\n  (a): " + line + "\n)");
  ParameterList tensors;
  tensors.push_back(tensor({1.0f}));
  expect_prints(tensors, "ParameterList()");
  ParameterDict named;
  named.insert("a", tensor({1.0f}));
  expect_prints(named, "ParameterDict()");
}

TEST(Print, ComputedWeights) {
  expect_prints(weight_norm(Linear(2, 3), {.axis = 1}),
                "WeightNorm<Linear>(\n"
                "  in_features=2, out_features=3, bias=true\n"
                "  (parametrizations): ModuleDict(\n"
                "    (weight): ParametrizationList(\n"
                "      (0): _WeightNorm()\n"
                "    )\n"
                "  )\n"
                ")");
  expect_prints(spectral_norm(Linear(2, 3)),
                "SpectralNorm<Linear>(\n"
                "  in_features=2, out_features=3, bias=true\n"
                "  (parametrizations): ModuleDict(\n"
                "    (weight): ParametrizationList(\n"
                "      (0): _SpectralNorm()\n"
                "    )\n"
                "  )\n"
                ")");
  const auto computed = [](const std::string& name, const std::string& step) {
    return name + "<Linear>(\n  in_features=2, out_features=3, bias=true\n" +
           "  (parametrizations): ModuleDict(\n    (weight): ParametrizationList(\n      (0): " + step +
           "()\n    )\n  )\n)";
  };
  const Reparametrized<Linear> same = parametrize(Linear(2, 3), [](const Tensor& x) { return x; });
  expect_prints(same, computed("Reparametrized", "Function"));
  const ParametrizedBy<Linear, Identity> by_module = parametrize(Linear(2, 3), Identity());
  expect_prints(by_module,
                "ParametrizedBy<Linear,Identity>(\n  in_features=2, out_features=3, bias=true\n"
                "  (parametrizations): ModuleDict(\n    (weight): ParametrizationList(\n      (0): Identity()\n"
                "    )\n  )\n)");
  const Orthogonal<Linear> turned = orthogonal(Linear(2, 3));
  expect_prints(turned, computed("Orthogonal", "_Orthogonal"));
  const Pruned<Linear> pruned = prune(Linear(2, 3), ones({3, 2}));
  expect_prints(pruned, computed("Pruned", "Mask"));
  const AdaptiveLogSoftmaxWithLoss adaptive({.in_features = 4, .n_classes = 6, .cutoffs = {2}});
  EXPECT_TRUE(adaptive.to_string().starts_with("AdaptiveLogSoftmaxWithLoss(\n")) << adaptive.to_string();
  expect_prints(adaptive, adaptive.to_string());
}

// Options of losses are not printed; their weights are buffers, which a clone has too, shared as they were.
TEST(Print, Losses) {
  const Tensor weight = tensor({1.0, 2.0});
  expect_prints(MSELoss(Reduction::sum), "MSELoss()");
  expect_prints(CrossEntropyLoss({.weight = weight}), "CrossEntropyLoss()");
  expect_prints(NLLLoss({.weight = weight}), "NLLLoss()");
  expect_prints(BCELoss({.weight = weight}), "BCELoss()");
  expect_prints(BCEWithLogitsLoss({.weight = weight, .pos_weight = weight}), "BCEWithLogitsLoss()");
  expect_prints(MultiMarginLoss({.weight = weight}), "MultiMarginLoss()");
  expect_prints(MultiLabelSoftMarginLoss({.weight = weight}), "MultiLabelSoftMarginLoss()");
  expect_prints(L1Loss(), "L1Loss()");
  expect_prints(HuberLoss(), "HuberLoss()");
  expect_prints(SmoothL1Loss(), "SmoothL1Loss()");
  expect_prints(FocalLoss(), "FocalLoss()");
  expect_prints(KLDivLoss(), "KLDivLoss()");
  expect_prints(PoissonNLLLoss(), "PoissonNLLLoss()");
  expect_prints(GaussianNLLLoss(), "GaussianNLLLoss()");
  expect_prints(CTCLoss(), "CTCLoss()");
  expect_prints(SoftMarginLoss(), "SoftMarginLoss()");
  expect_prints(HingeEmbeddingLoss(), "HingeEmbeddingLoss()");
  expect_prints(MarginRankingLoss(), "MarginRankingLoss()");
  expect_prints(CosineEmbeddingLoss(), "CosineEmbeddingLoss()");
  expect_prints(TripletMarginLoss(), "TripletMarginLoss()");
  expect_prints(MultiLabelMarginLoss(), "MultiLabelMarginLoss()");
}

}  // namespace
}  // namespace weft::nn
