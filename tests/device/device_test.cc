// What must hold on a device other than the CPU: placement, errors, training, saving and carrying on.
#include <gtest/gtest.h>

#include <filesystem>

#include "distributed/group.h"
#include "tests/device/simulated_device.h"
#include "tests/error_of.h"
#include "weft.h"

namespace weft::testing {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  OnDevice() { (void)simulated_device(); }
  const Device device = Device::extension();
};

TEST_F(OnDevice, TensorsGoThereAndComeBack) {
  const Tensor x = randn({3, 5});
  const Tensor there = x.to(device);
  EXPECT_EQ(there.device(), device);
  EXPECT_TRUE(there.to(device).is_same(there));
  EXPECT_EQ(there.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(there.t().slice(0, 1, 4).to(Device::cpu()).to_vector<float>(), x.t().slice(0, 1, 4).to_vector<float>());
  EXPECT_EQ(there.to(Device::extension(1)).device(), Device::extension(1));
  EXPECT_EQ((there * 2.0).sum().item<float>(), (x * 2.0).sum().item<float>());
  EXPECT_NE(there.to_string().find("device=extension:0"), std::string::npos);
  EXPECT_EQ(empty({0, 3}).to(device).to_vector<float>().size(), 0u);
}

TEST_F(OnDevice, ResultsOfAGroupAreThere) {
  const distributed::Group group = distributed::init();
  const Tensor here = arange(6).view({2, 3}).to(f32), x = here.to(device);
  for (const Tensor& y : {group.all_gather(x), group.all_gather_async(x).wait()}) {
    EXPECT_EQ(y.device(), device);
    EXPECT_EQ(y.shape(), (Shape{1, 2, 3}));
    EXPECT_EQ(y.to_vector<float>(), here.to_vector<float>());
  }
  for (const Tensor& y : {group.reduce_scatter(x), group.reduce_scatter_async(x).wait(), group.all_to_all(x),
                          group.all_to_all_async(x).wait()}) {
    EXPECT_EQ(y.device(), device);
    EXPECT_EQ(y.to_vector<float>(), here.to_vector<float>());
  }
}

TEST_F(OnDevice, CountsOfRepetitionsMayStayOnTheHost) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}), counts = tensor({1, 2}), out = repeat_interleave(x, counts, 0);
  for (const Tensor& there :
       {repeat_interleave(x.to(device), counts, 0), repeat_interleave(x.to(device), counts.to(device), 0)}) {
    EXPECT_EQ(there.device(), device);
    EXPECT_TRUE(equal(there.to(Device::cpu()), out));
  }
  EXPECT_TRUE(equal(repeat_interleave(x, counts.to(device), 0), out));
}

TEST_F(OnDevice, KernelsRunThere) {
  const Tensor x = ones({2}).to(device);
  simulated_device().synchronize();
  const int64_t before = simulated_device().kernels_run();
  const Tensor y = exp(x) * x;
  EXPECT_EQ(y.device(), device);
  simulated_device().synchronize();
  EXPECT_EQ(simulated_device().kernels_run(), before + 2);
}

TEST_F(OnDevice, AProfilerTimesTheCallsOfKernels) {
  Profiler profiler;
  const Tensor x = ones({1000});
  Tensor y;
  {
    const ProfilerScope scope(profiler);
    const Tensor there = x.to(device), e = exp(there);
    y = e * 2.0;
  }
  EXPECT_EQ(y.to_vector<float>(), (exp(x) * 2.0).to_vector<float>());
  std::vector<std::string> names;
  for (const ProfilerEvent& event : profiler.events()) {
    names.push_back(event.name);
    EXPECT_EQ(event.bytes, 4000) << event.name;
  }
  EXPECT_EQ(names, std::vector<std::string>({"to_device", "exp", "mul"}));
}

TEST_F(OnDevice, MemoryOrderIsKept) {
  const Tensor x = randn({2, 3, 4, 5}).permute({0, 3, 1, 2});
  EXPECT_EQ(x.to(device).strides(), x.strides());
  EXPECT_EQ(x.to(device).to_vector<float>(), x.to_vector<float>());
}

TEST_F(OnDevice, ConstructorsTakeADevice) {
  EXPECT_EQ(zeros({2}, f32, device).device(), device);
  EXPECT_EQ(ones({2, 2}, i64, device).sum().item<int64_t>(), 4);
  EXPECT_EQ(full({3}, 2.5, f64, device).to_vector<double>(), std::vector<double>(3, 2.5));
  EXPECT_EQ(ones_like(zeros({2}, f32, device)).device(), device);
  manual_seed(3);
  const Tensor here = randn({1000});
  manual_seed(3);
  EXPECT_EQ(randn({1000}, f32, device).to_vector<float>(), here.to_vector<float>());
}

TEST_F(OnDevice, ErrorsNameTheOpAndTheDevices) {
  const Tensor here = ones({2}), there = here.to(device);
  EXPECT_EQ(error_of<DeviceError>([&] { return here + there; }),
            "add([2] f32, [2] f32 extension:0): inputs are on cpu and extension:0; move them to one device with to()");
  EXPECT_EQ(
      error_of<DeviceError>([&] { (void)there.data<float>(); }),
      "data([2] f32 extension:0): the memory is on extension:0, where the host cannot read it; use to(Device::cpu())");
  EXPECT_EQ(error_of<DeviceError>([&] { return here.to(Device::extension(2)); }),
            "to([2] f32): there is no device extension:2: there are 2 of that kind");
  EXPECT_EQ(error_of<DeviceError>([&] { return here.to(Device::cuda()); }),
            "to([2] f32): there is no device cuda:0: this program has no backend of that kind");
  EXPECT_EQ(error_of<DeviceError>([&] { return zeros({2}, f32, Device::cuda(1)); }),
            "zeros(): there is no device cuda:1: this program has no backend of that kind");
}

TEST_F(OnDevice, AMissingKernelIsNamed) {
  simulated_device().remove_kernel("erf");
  EXPECT_EQ(error_of<DeviceError>([&] { return erf(ones({2}).to(device)); }),
            "erf([2] f32 extension:0): erf has no kernel on extension:0");
}

TEST_F(OnDevice, GradientsCrossDevices) {
  Tensor w = parameter(randn({4}));
  (w.to(device) * w.to(device)).sum().backward();
  EXPECT_EQ(w.grad().device(), Device::cpu());
  EXPECT_TRUE(allclose(w.grad(), w.detach() * 2.0));
}

TEST_F(OnDevice, GradientsAreGivenWhereTheirTensorsAre) {
  const Tensor here = parameter(ones({2})), there = parameter(ones({2}).to(device));
  EXPECT_EQ(error_of<GradientError>([&] { (there * 2.0).backward(ones({2})); }),
            "backward([2] f32 extension:0): the seed is on cpu, the tensor on extension:0; use to()");
  EXPECT_EQ(error_of<GradientError>([&] { here.set_grad(ones({2}).to(device)); }),
            "set_grad([2] f32): the gradient of `leaf` must be [2] f32, not [2] f32 extension:0");
  EXPECT_EQ(error_of<GradientError>([&] { there.set_grad(ones({2})); }),
            "set_grad([2] f32 extension:0): the gradient of `leaf` must be [2] f32 extension:0, not [2] f32");
  there.register_hook([](const Tensor& g) { return g.to(Device::cpu()); });
  EXPECT_EQ(error_of<GradientError>([&] { there.sum().backward(); }),
            "backward of `leaf`: the gradient of `leaf` must be [2] f32 extension:0, not [2] f32");
  EXPECT_FALSE(there.grad().defined());
}

TEST_F(OnDevice, GradientsOnSeveralDevicesAreClippedTogether) {
  const Tensor here = parameter(ones({2})), there = parameter(ones({2}).to(device));
  here.set_grad(tensor({3.0, 0.0}));
  there.set_grad(tensor({0.0, 4.0}).to(device));
  EXPECT_EQ(nn::clip_grad_norm({here, there}, 1.0), 5.0);
  EXPECT_NEAR(here.grad()[0].item<double>(), 0.6, 1e-5);
  EXPECT_NEAR(there.grad()[1].item<double>(), 0.8, 1e-5);
}

TEST_F(OnDevice, DerivativesAreThereAndCanBeChecked) {
  const Tensor x = randn({3, 4}, f64).to(device);
  const auto nothing = [](const Tensor& t) { return t.slice(0, 0, 0); };
  EXPECT_EQ(jacobian(nothing, x).device(), device);
  const CheckedFunction cube = [](const std::vector<Tensor>& in) { return in[0] * in[0] * in[0]; };
  EXPECT_TRUE(gradcheck(cube, {x}));
  EXPECT_TRUE(gradgradcheck(cube, {x}));
}

TEST_F(OnDevice, TablesOfSamples) {
  const Tensor tables = randn({3, 5, 2}), indices = arange(6).view({3, 2}) % 5;
  for (const int64_t padding : {-1, 1}) {
    const auto rows = [&](const Tensor& i, const Tensor& t) { return embedding(i, t, padding); };
    const auto gradient = [&](const Tensor& i, const Tensor& t) {
      return vjp([&](const Tensor& u) { return rows(i, u).sum(); }, t).gradient;
    };
    const Tensor there = tables.to(device), i = indices.to(device);
    EXPECT_EQ(vmap(rows)(i, there).to_vector<float>(), vmap(rows)(indices, tables).to_vector<float>());
    EXPECT_EQ(vmap(gradient)(i, there).to_vector<float>(), vmap(gradient)(indices, tables).to_vector<float>());
  }
}

TEST_F(OnDevice, WritesInPlaceAndAcrossDevices) {
  Tensor there = zeros({2, 3}, f32, device);
  there.add_(1.0).mul_(3.0);
  there[1].copy_(tensor({7.0, 8.0, 9.0}));
  EXPECT_EQ(there.to_vector<float>(), (std::vector<float>{3, 3, 3, 7, 8, 9}));
}

TEST_F(OnDevice, MemoryIsGivenBack) {
  simulated_device().synchronize();
  const size_t before = simulated_device().live_blocks();
  {
    Tensor w = parameter(randn({8, 8}, f32, device));
    relu(matmul(w, w)).sum().backward();
  }
  simulated_device().synchronize();
  EXPECT_EQ(simulated_device().live_blocks(), before);
}

struct Mlp : nn::Layer<Mlp> {
  nn::Linear first = register_module("first", nn::Linear(64, 32)),
             second = register_module("second", nn::Linear(32, 10));
  Tensor forward(const Tensor& x) { return second(relu(first(x.flatten(1)))); }
};

struct Cnn : nn::Layer<Cnn> {
  nn::Conv2d conv = register_module("conv", nn::Conv2d({.in_channels = 1, .out_channels = 4, .kernel_size = 3}));
  nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(4));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.1));
  nn::Linear head = register_module("head", nn::Linear(4 * 3 * 3, 10));
  Tensor forward(const Tensor& x) {
    return head(dropout(norm.forward_relu_max_pool(conv(x.view({-1, 1, 8, 8})), {.kernel_size = 2}).flatten(1)));
  }
};

/// Losses of `steps` steps; the optimizer's and the model's state go on.
template <class Model, class Optimizer>
std::vector<float> train(Model& model, Optimizer& optimizer, Device device, int steps) {
  std::vector<float> losses;
  for (int i = 0; i < steps; ++i) {
    const Tensor images = randn({16, 8, 8}), labels = randint(0, 10, {16});
    optimizer.zero_grad();
    const Tensor loss = nn::cross_entropy(model(images.to(device)), labels.to(device));
    loss.backward();
    nn::clip_grad_norm(model.parameters(), 1.0);
    optimizer.step();
    losses.push_back(loss.item<float>());
  }
  return losses;
}

/// Trains, saves, carries on in a new model, all on `device`.
template <class Model, class Optimizer, class Options>
std::vector<float> train_and_resume(Device device, const Options& options) {
  manual_seed(11);
  const std::string path = ::testing::TempDir() + "device_test.ck";
  Model model;
  model.to(device);
  Optimizer optimizer(model.parameters(), options);
  std::vector<float> losses = train(model, optimizer, device, 6);
  io::save_checkpoint(path, {.model = &model, .optimizer = &optimizer});

  Model again;
  again.to(device);
  Optimizer next(again.parameters(), options);
  io::load_checkpoint(path, {.model = &again, .optimizer = &next});
  for (float loss : train(again, next, device, 6)) losses.push_back(loss);
  std::filesystem::remove(path);
  return losses;
}

TEST_F(OnDevice, AnMlpTrainsSavesAndResumesWithTheSameBits) {
  const optim::AdamWOptions options{.lr = 1e-2};
  EXPECT_EQ((train_and_resume<Mlp, optim::AdamW>(device, options)),
            (train_and_resume<Mlp, optim::AdamW>(Device::cpu(), options)));
}

TEST_F(OnDevice, ACnnTrainsSavesAndResumesWithTheSameBits) {
  const optim::SGDOptions options{.lr = 1e-2, .momentum = 0.9};
  EXPECT_EQ((train_and_resume<Cnn, optim::SGD>(device, options)),
            (train_and_resume<Cnn, optim::SGD>(Device::cpu(), options)));
}

TEST_F(OnDevice, MasksAndComputedWeightsAreThere) {
  nn::Linear fc(3, 4);
  fc.to(device);
  const Tensor x = ones({2, 3}).to(device), weight = fc.weight();
  for (const Tensor& mask :
       {nn::l1_mask(weight, 0.5), nn::random_mask(weight, 3), nn::ln_structured_mask(weight, 1, 2, 0),
        nn::random_structured_mask(weight, 1, 1), nn::global_l1_masks({weight}, 2)[0]})
    EXPECT_EQ(mask.device(), device);
  const auto pruned = nn::prune(std::move(fc), nn::l1_mask(weight, 0.5));
  EXPECT_EQ(pruned.plain()(x).to_vector<float>(), pruned(x).to_vector<float>());
  const auto orthogonal = nn::orthogonal(pruned.plain());
  orthogonal(x).sum().backward();
  EXPECT_EQ(orthogonal.get_parameter("parametrizations.weight.original").grad().device(), device);
  EXPECT_EQ(nn::clone(orthogonal)(x).to_vector<float>(), orthogonal(x).to_vector<float>());
}

TEST_F(OnDevice, AModuleThatMovesKeepsItsOptimizer) {
  manual_seed(5);
  Mlp model;
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
  (void)train(model, optimizer, Device::cpu(), 2);
  model.to(device);
  EXPECT_EQ(model.parameters()[0].device(), device);
  EXPECT_EQ(model.parameters()[0].grad().device(), device);
  const std::vector<float> losses = train(model, optimizer, device, 2);
  manual_seed(5);
  Mlp same;
  optim::AdamW other(same.parameters(), {.lr = 1e-2});
  (void)train(same, other, Device::cpu(), 2);
  EXPECT_EQ(losses, train(same, other, Device::cpu(), 2));
}

}  // namespace
}  // namespace weft::testing
