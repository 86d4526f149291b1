// Cases of batch normalization.
#include <algorithm>

#include "tensor/adjoints/batch_norm.h"
#include "tensor/functions/batch_norm_pool.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/group_norm.h"
#include "tests/ops/families.h"
#include "tests/reference/activation.h"
#include "tests/reference/norm.h"

namespace weft::testing {

namespace {

constexpr double kEps = 1e-2;  // large enough to be seen

Array batch_normed(const Arrays& x) {
  return reference::normalized(x[0], x[1], x[2], reference::each_channel(x[0].shape), kEps);
}

/// batch_norm alone refuses it, as in PyTorch.
void add_negative_eps(Cases& cases) {
  cases
      .add("instance norm by statistics with a negative eps",
           {{normal({2, 3, 2}), normal({3}), given({3}, {1, 2, 3}), absent(), absent()}},
           CALL(instance_norm(x[0], x[1], x[2], {}, {}, {.use_input_stats = false, .eps = -0.5})),
           [](const Arrays& x) { return reference::normalized_with(x[0], x[1], x[2], x[3], x[4], -0.5); })
      .accepts(kFloating)
      .loose(20);
}

void add_eps_errors(Cases& cases) {
  const auto of = [](bool training, double eps) {
    return [=] { batch_norm(ones({2, 3}), zeros({3}), ones({3}), {}, {}, {.training = training, .eps = eps}); };
  };
  const std::string call = "batch_norm([2, 3] f32, [3] f32, [3] f32): ";
  cases.error<Error>("batch_norm negative eps", of(false, -1), call + "eps must be 0 or more, not -1");
  cases.error<Error>("batch_norm negative eps in training", of(true, -0.5),
                     call + "eps must be positive in training, not -0.5");
  cases.error<Error>("batch_norm eps 0 in training", of(true, 0), call + "eps must be positive in training, not 0");
  cases.error<Error>(
      "batch_norm_relu eps",
      [] {
        batch_norm_relu(ones({2, 3}), {}, {}, 0);
      },
      "batch_norm_relu([2, 3] f32): eps must be positive in training, not 0");
}

void add_batch_norm(Cases& cases) {
  const std::vector<Sample> samples = {{normal({4, 3}), normal({3}), normal({3})},
                                       {normal({2, 3, 2, 2}), normal({3}), normal({3})},
                                       {normal({3, 2, 4}), normal({2}), absent()},
                                       {normal({4, 3}), absent(), absent()},
                                       {normal({4, 2}), absent(), normal({2})},
                                       {normal({1, 2, 3, 2}), normal({2}), normal({2})},
                                       {normal({2, 17, 2, 1}), normal({17}), normal({17})}};
  cases.add("batch norm", samples, CALL(batch_norm_with_statistics(x[0], x[1], x[2], kEps).y), batch_normed)
      .accepts(kFloating)
      .loose(20);
  cases
      .add("batch norm relu", samples, CALL(batch_norm_relu(x[0], x[1], x[2], kEps).y),
           [](const Arrays& x) { return pointwise(reference::relu)(batch_normed(x)); })
      .accepts(kFloating)
      .loose(20);
  cases
      .add(
          "batch norm relu max pool",
          {{normal({2, 3, 4, 6}), normal({3}), normal({3})},
           {normal({3, 17, 2, 2}), normal({17}), absent()},
           {normal({2, 2, 6, 4}), absent(), normal({2})},
           {normal({1, 4, 2, 8}), absent(), absent()}},
          [](const Inputs& x) {
            // Channels-last, as the one pass wants it.
            const Tensor image = x[0].permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
            return batch_norm_relu_max_pool2d(image, x[1], x[2], {.kernel_size = 2}, kEps).y;
          },
          [](const Arrays& x) {
            const Array y = batch_normed(x);
            return build({y.size(0), y.size(1), y.size(2) / 2, y.size(3) / 2}, [&](const Index& at) {
              double best = 0;
              for (int64_t i = 0; i < 2; ++i)
                for (int64_t j = 0; j < 2; ++j)
                  best = std::max(best, y.at({at[0], at[1], 2 * at[2] + i, 2 * at[3] + j}));
              return best;
            });
          })
      .accepts(kFloating)
      .loose(20);
  cases
      .add(
          "batch norm statistics", samples,
          [](const Inputs& x) {
            const BatchNormResult result = batch_norm_with_statistics(x[0], x[1], x[2], kEps);
            const DType dtype = x[0].dtype();  // statistics are f32 of bf16 and f16
            return Outputs{result.mean.to(dtype), result.rstd.to(dtype), result.var.to(dtype)};
          },
          [](const Arrays& x) {
            const Shape channels{x[0].size(1)};
            const auto [mean, rstd] = reference::moments(x[0], reference::each_channel(x[0].shape), kEps);
            reference::Row var = rstd;
            for (double& v : var) v = 1 / (v * v) - kEps;
            return Arrays{Array{channels, mean}, Array{channels, rstd}, Array{channels, var}};
          })
      .accepts(kFloating)
      .no_gradient()
      .loose(20);
  const std::vector<Sample> with_statistics = {
      {normal({4, 3}), normal({3}), positive({3}), normal({3}), normal({3})},
      {normal({2, 3, 2, 2}), normal({3}), positive({3}), normal({3}), absent()},
      {normal({4, 2}), normal({2}), positive({2}), absent(), absent()},
      {normal({0, 2}), normal({2}), positive({2}), normal({2}), normal({2})}};
  const auto inference = [](const Arrays& x) { return reference::normalized_with(x[0], x[1], x[2], x[3], x[4], kEps); };
  cases
      .add("batch norm inference relu", with_statistics,
           CALL(batch_norm_inference_relu(x[0], x[1], x[2], x[3], x[4], kEps)),
           [=](const Arrays& x) { return pointwise(reference::relu)({inference(x)}); })
      .accepts(kFloating)
      .loose(20);
  cases
      .add("batch norm inference", with_statistics, CALL(batch_norm(x[0], x[1], x[2], x[3], x[4], {.eps = kEps})),
           inference)
      .accepts(kFloating)
      .loose(20);
  cases.error<ShapeError>(
      "batch_norm rank", [] { batch_norm_with_statistics(ones({3})); },
      "batch_norm_with_statistics([3] f32): x must be (N, C) or (N, C, ...), not [3]");
  cases.error<ShapeError>(
      "batch_norm weight",
      [] {
        batch_norm_with_statistics(ones({2, 3}), ones({2}));
      },
      "batch_norm_with_statistics([2, 3] f32, [2] f32): per-channel tensors must be [3] f32, not [2] f32");
  cases.error<ShapeError>(
      "batch_norm one value",
      [] {
        batch_norm_with_statistics(ones({1, 3}));
      },
      "batch_norm_with_statistics([1, 3] f32): each channel has one value, which has no variance; use eval() or a "
      "larger batch");
  cases.error<DtypeError>(
      "batch_norm of integers",
      [] {
        batch_norm_with_statistics(ones({2, 3}, i32));
      },
      "batch_norm_with_statistics([2, 3] i32): i32 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  cases.error<ShapeError>(
      "batch_norm statistics",
      [] {
        batch_norm(ones({2, 3}), ones({3}), ones({2}));
      },
      "batch_norm([2, 3] f32, [3] f32, [2] f32): per-channel tensors must be [3] f32, not [2] f32");
  cases.error<Error>(
      "batch_norm without statistics",
      [] {
        batch_norm(ones({2, 3}), {}, ones({3}));
      },
      "batch_norm([2, 3] f32, [3] f32): it takes running_mean and running_var unless training is true");
  cases.error<ShapeError>(
      "batch_norm running statistics",
      [] {
        batch_norm(ones({2, 3}), ones({2}), ones({3}), {}, {}, {.training = true});
      },
      "batch_norm([2, 3] f32, [2] f32, [3] f32): per-channel tensors must be [3] f32, not [2] f32");
  add_negative_eps(cases);
  add_eps_errors(cases);
}

void add_backward(Cases& cases) {
  cases
      .add(
          "batch norm backward",
          {{normal({4, 3}), normal({4, 3}), normal({3})},
           {normal({2, 3, 2, 2}), normal({2, 3, 2, 2}), normal({3})},
           {normal({3, 2, 4}), normal({3, 2, 4}), absent()},
           {normal({2, 17, 2, 1}), normal({2, 17, 2, 1}), normal({17})}},
          [](const Inputs& x) {
            const BatchNormResult result = batch_norm_with_statistics(x[1], x[2], Tensor(), kEps);
            const auto [dx, dweight, dbias] =
                adjoint::batch_norm_backward(x[0], x[1], x[2], Tensor(), result.mean, result.rstd, kEps, false);
            return Outputs{dx, dweight, dbias};
          },
          [](const Arrays& x) {
            return reference::normalized_gradient(x[0], x[1], x[2], reference::each_channel(x[1].shape), kEps);
          })
      .accepts(kFloating)
      .loose(20);
}

}  // namespace

void add_batch_norm_cases(Cases& cases) {
  add_batch_norm(cases);
  add_backward(cases);
}

}  // namespace weft::testing
