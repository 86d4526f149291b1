// Errors of convolutions: the whole text of each.
#include "tensor/adjoints/conv.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "conv2d input",
      [] {
        conv2d(ones({4, 4}), ones({2, 3, 3, 3}));
      },
      "conv2d([4, 4] f32, [2, 3, 3, 3] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  cases.error<ShapeError>(
      "conv2d weight",
      [] {
        conv2d(ones({1, 3, 4, 4}), ones({2, 3, 3}));
      },
      "conv2d([1, 3, 4, 4] f32, [2, 3, 3] f32): weight must be (O, C / groups, kh, kw), not [2, 3, 3]");
  cases.error<ShapeError>(
      "conv2d channels",
      [] {
        conv2d(ones({1, 3, 4, 4}), ones({2, 2, 3, 3}));
      },
      "conv2d([1, 3, 4, 4] f32, [2, 2, 3, 3] f32): x has 3 channels, weight [2, 2, 3, 3] with 1 groups takes 2");
  cases.error<ShapeError>(
      "conv2d groups",
      [] {
        conv2d(ones({1, 4, 4, 4}), ones({3, 2, 3, 3}), {.groups = 2});
      },
      "conv2d([1, 4, 4, 4] f32, [3, 2, 3, 3] f32): 3 output channels do not divide into 2 groups");
  cases.error<ShapeError>(
      "conv2d size",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 3, 3}));
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 3, 3] f32): the window of 3 is larger than its axis of 2");
  cases.error<ShapeError>(
      "conv2d dilated size",
      [] {
        conv2d(ones({1, 2, 2}), ones({1, 1, 3, 2}), {.padding = 1, .dilation = 2});
      },
      "conv2d([1, 2, 2] f32, [1, 1, 3, 2] f32): the window of 3, dilated by 2 to 5, is larger than its axis of 2 with "
      "its padding of 1");
  cases.error<ShapeError>(
      "conv2d empty kernel",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 0, 1}));
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 0, 1] f32): the kernel of weight [1, 1, 0, 1] is empty");
  cases.error<ShapeError>(
      "conv2d bias",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({3, 1, 1, 1}), ones({2}));
      },
      "conv2d([1, 1, 2, 2] f32, [3, 1, 1, 1] f32, [2] f32): bias must have shape [3], not [2]");
  cases.error<Error>(
      "conv2d stride",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.stride = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): stride 0, 0 must be 1 or more");
  cases.error<Error>(
      "conv2d padding",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.padding = {0, -1}});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): padding 0, -1 must be 0 or more");
  cases.error<Error>(
      "conv2d dilation",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.dilation = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): dilation 0, 0 must be 1 or more");
  cases.error<Error>(
      "conv2d no groups",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.groups = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): groups 0 must be 1 or more");
  cases.error<DtypeError>(
      "conv2d of integers",
      [] {
        conv2d(ones({1, 1, 2, 2}, i64), ones({1, 1, 1, 1}, i64));
      },
      "conv2d([1, 1, 2, 2] i64, [1, 1, 1, 1] i64): i64 is not accepted here; it takes floating dtypes; cast first, "
      "e.g. x.to(f32)");
  cases.error<ShapeError>(
      "conv_backward_data shape",
      [] {
        adjoint::conv_backward_data(ones({1, 1, 3, 3}), ones({1, 1, 1, 1}), {1, 1, 2, 2}, ConvOptions());
      },
      "conv_backward_data([1, 1, 3, 3] f32, [1, 1, 1, 1] f32): the gradient must have shape [1, 1, 2, 2], not [1, 1, "
      "3, 3]");
  cases.error<ShapeError>(
      "conv_backward_weights shape",
      [] {
        adjoint::conv_backward_weights(ones({1, 1, 2, 2}), ones({1, 2, 2, 2}), View::contiguous({1, 1, 1, 1}),
                                       ConvOptions());
      },
      "conv_backward_weights([1, 1, 2, 2] f32, [1, 2, 2, 2] f32): the gradient must have shape [1, 1, 2, 2], not [1, "
      "2, 2, 2]");
}

/// The errors of one and three axes, and of the transposed convolutions.
void add_more_errors(Cases& cases) {
  cases.error<ShapeError>(
      "conv1d input",
      [] {
        conv1d(ones({4}), ones({2, 3, 3}));
      },
      "conv1d([4] f32, [2, 3, 3] f32): x must be (N, C, L) or (C, L), not [4]");
  cases.error<ShapeError>(
      "conv1d weight",
      [] {
        conv1d(ones({1, 3, 4}), ones({2, 3, 3, 1}));
      },
      "conv1d([1, 3, 4] f32, [2, 3, 3, 1] f32): weight must be (O, C / groups, k), not [2, 3, 3, 1]");
  cases.error<ShapeError>(
      "conv1d size",
      [] {
        conv1d(ones({1, 1, 2}), ones({1, 1, 3}));
      },
      "conv1d([1, 1, 2] f32, [1, 1, 3] f32): the window of 3 is larger than its axis of 2");
  cases.error<Error>(
      "conv1d stride",
      [] {
        conv1d(ones({1, 1, 2}), ones({1, 1, 1}), {.stride = 0});
      },
      "conv1d([1, 1, 2] f32, [1, 1, 1] f32): stride 0 must be 1 or more");
  cases.error<ShapeError>(
      "conv1d overflow",
      [] {
        conv1d(ones({1, 1, 4}), ones({1, 1, 1}), {.padding = int64_t{1} << 62});
      },
      "conv1d([1, 1, 4] f32, [1, 1, 1] f32): 2 * 4611686018427387904 does not fit into 64 bits");
  cases.error<ShapeError>(
      "conv3d input",
      [] {
        conv3d(ones({4, 4, 4}), ones({2, 3, 3, 3, 3}));
      },
      "conv3d([4, 4, 4] f32, [2, 3, 3, 3, 3] f32): x must be (N, C, D, H, W) or (C, D, H, W), not [4, 4, 4]");
  cases.error<ShapeError>(
      "conv3d weight",
      [] {
        conv3d(ones({1, 3, 4, 4, 4}), ones({2, 3, 3, 3}));
      },
      "conv3d([1, 3, 4, 4, 4] f32, [2, 3, 3, 3] f32): weight must be (O, C / groups, kd, kh, kw), not [2, 3, 3, 3]");
  cases.error<Error>(
      "conv3d dilation",
      [] {
        conv3d(ones({1, 1, 2, 2, 2}), ones({1, 1, 1, 1, 1}), {.dilation = {1, 0, 2}});
      },
      "conv3d([1, 1, 2, 2, 2] f32, [1, 1, 1, 1, 1] f32): dilation 1, 0, 2 must be 1 or more");
  cases.error<ShapeError>(
      "conv_transpose2d input",
      [] {
        conv_transpose2d(ones({4, 4}), ones({2, 3, 3, 3}));
      },
      "conv_transpose2d([4, 4] f32, [2, 3, 3, 3] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  cases.error<ShapeError>(
      "conv_transpose2d weight",
      [] {
        conv_transpose2d(ones({1, 2, 4, 4}), ones({2, 3, 3}));
      },
      "conv_transpose2d([1, 2, 4, 4] f32, [2, 3, 3] f32): weight must be (C, O / groups, kh, kw), not [2, 3, 3]");
  cases.error<ShapeError>(
      "conv_transpose2d channels",
      [] {
        conv_transpose2d(ones({1, 3, 4, 4}), ones({2, 3, 3, 3}));
      },
      "conv_transpose2d([1, 3, 4, 4] f32, [2, 3, 3, 3] f32): x has 3 channels, weight [2, 3, 3, 3] takes 2");
  cases.error<ShapeError>(
      "conv_transpose2d groups",
      [] {
        conv_transpose2d(ones({1, 3, 4, 4}), ones({3, 2, 3, 3}), {.groups = 2});
      },
      "conv_transpose2d([1, 3, 4, 4] f32, [3, 2, 3, 3] f32): 3 channels do not divide into 2 groups");
  cases.error<ShapeError>(
      "conv_transpose2d bias",
      [] {
        conv_transpose2d(ones({1, 2, 4, 4}), ones({2, 3, 3, 3}), ones({2}));
      },
      "conv_transpose2d([1, 2, 4, 4] f32, [2, 3, 3, 3] f32, [2] f32): bias must have shape [3], not [2]");
  cases.error<Error>(
      "conv_transpose2d output_padding",
      [] {
        conv_transpose2d(ones({1, 1, 4, 4}), ones({1, 1, 3, 3}), {.stride = 2, .output_padding = {1, 2}});
      },
      "conv_transpose2d([1, 1, 4, 4] f32, [1, 1, 3, 3] f32): output_padding 1, 2 must be smaller than stride 2, 2 or "
      "dilation 1, 1");
  cases.error<ShapeError>(
      "conv_transpose2d padding",
      [] {
        conv_transpose2d(ones({1, 1, 1, 4}), ones({1, 1, 3, 3}), {.padding = 2});
      },
      "conv_transpose2d([1, 1, 1, 4] f32, [1, 1, 3, 3] f32): padding 2, 2 leaves nothing of the result");
  cases.error<ShapeError>(
      "conv_transpose1d of nothing",
      [] {
        conv_transpose1d(ones({1, 1, 0}), ones({1, 1, 3}));
      },
      "conv_transpose1d([1, 1, 0] f32, [1, 1, 3] f32): x [1, 1, 0] has nothing to spread");
  cases.error<ShapeError>(
      "conv_transpose3d empty kernel",
      [] {
        conv_transpose3d(ones({1, 1, 2, 2, 2}), ones({1, 1, 1, 0, 1}));
      },
      "conv_transpose3d([1, 1, 2, 2, 2] f32, [1, 1, 1, 0, 1] f32): the kernel of weight [1, 1, 1, 0, 1] is empty");
  cases.error<ShapeError>(
      "conv1d same with a stride",
      [] {
        conv1d(ones({1, 1, 4}), ones({1, 1, 3}), {.stride = 2, .padding = SamePadding()});
      },
      "conv1d([1, 1, 4] f32, [1, 1, 3] f32): padding `same` needs stride 1, not 2; "
      "give the padding as a number");
  cases.error<ShapeError>(
      "conv2d reflect",
      [] {
        conv2d(ones({1, 1, 2, 2}), ones({1, 1, 3, 3}), {.padding = 2, .padding_mode = PadMode::reflect});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 3, 3] f32): reflect takes no 2 entries from axis 2 of size 2");
  cases.error<Error>(
      "conv2d negative padding with entries",
      [] {
        conv2d(ones({1, 1, 7, 7}), ones({1, 1, 3, 3}), {.padding = {1, -1}, .padding_mode = PadMode::replicate});
      },
      "conv2d([1, 1, 7, 7] f32, [1, 1, 3, 3] f32): padding 1, -1 must be 0 or more");
}

}  // namespace

void add_conv_error_cases(Cases& cases) {
  add_errors(cases);
  add_more_errors(cases);
}

}  // namespace weft::testing
