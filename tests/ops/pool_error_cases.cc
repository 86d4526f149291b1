// Errors of pooling: the whole text of each.
#include "tensor/adjoints/pool.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/max_unpool.h"
#include "tensor/functions/pool.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&, const Pool2dOptions&);
  for (const auto& [name, f] :
       {std::pair<std::string, Function>{"max_pool2d", max_pool2d}, {"avg_pool2d", avg_pool2d}}) {
    cases.error<ShapeError>(
        name + " rank",
        [f = f] {
          f(ones({4, 4}), {.kernel_size = 2});
        },
        name + "([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
    cases.error<Error>(
        name + " kernel",
        [f = f] {
          f(ones({1, 1, 4, 4}), {});
        },
        name + "([1, 1, 4, 4] f32): kernel size 0 must be 1 or more");
    cases.error<Error>(
        name + " stride",
        [f = f] {
          f(ones({1, 1, 4, 4}), {.kernel_size = 2, .stride = Size2(1, 0)});
        },
        name + "([1, 1, 4, 4] f32): stride 0 must be 1 or more");
    cases.error<Error>(
        name + " padding",
        [f = f] {
          f(ones({1, 1, 4, 4}), {.kernel_size = 2, .padding = 2});
        },
        name + "([1, 1, 4, 4] f32): padding 2 must lie between 0 and half the kernel size 2");
    cases.error<ShapeError>(
        name + " window",
        [f = f] {
          f(ones({1, 1, 2, 4}), {.kernel_size = 3});
        },
        name + "([1, 1, 2, 4] f32): the window of 3 is larger than its axis of 2");
    cases.error<DtypeError>(
        name + " of integers",
        [f = f] {
          f(ones({1, 1, 2, 2}, i64), {.kernel_size = 2});
        },
        name + "([1, 1, 2, 2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  }
  cases.error<Error>(
      "max_pool2d dilation",
      [] {
        max_pool2d(ones({1, 1, 2, 2}), {.kernel_size = 2, .dilation = 0});
      },
      "max_pool2d([1, 1, 2, 2] f32): dilation 0 must be 1 or more");
  cases.error<Error>(
      "max_pool2d divisor",
      [] {
        max_pool2d(ones({1, 1, 5, 5}), {.kernel_size = 2, .divisor_override = 3});
      },
      "max_pool2d([1, 1, 5, 5] f32): divisor_override is for avg pools only");
  cases.error<Error>(
      "max_pool3d divisor",
      [] {
        max_pool3d(ones({1, 1, 4, 4, 4}), {.kernel_size = 2, .divisor_override = 3});
      },
      "max_pool3d([1, 1, 4, 4, 4] f32): divisor_override is for avg pools only");
  cases.error<Error>(
      "max_pool2d count",
      [] {
        max_pool2d(ones({1, 1, 5, 5}), {.kernel_size = 2, .count_include_pad = false});
      },
      "max_pool2d([1, 1, 5, 5] f32): count_include_pad is for avg pools only");
  cases.error<Error>(
      "lp_pool2d divisor",
      [] {
        lp_pool2d(ones({1, 1, 5, 5}), 2, {.kernel_size = 2, .divisor_override = 3});
      },
      "lp_pool2d([1, 1, 5, 5] f32): divisor_override is for avg pools only");
  cases.error<Error>(
      "max_unpool2d dilation",
      [] {
        max_unpool2d(ones({1, 1, 2, 2}), zeros({1, 1, 2, 2}, i64), {.kernel_size = 2, .dilation = 2});
      },
      "max_unpool2d([1, 1, 2, 2] f32, [1, 1, 2, 2] i64): windows with a dilation cannot be undone");
  cases.error<Error>(
      "avg_pool2d dilation",
      [] {
        avg_pool2d(ones({1, 1, 5, 5}), {.kernel_size = 2, .dilation = 2});
      },
      "avg_pool2d([1, 1, 5, 5] f32): dilation is for max pools only");
  cases.error<ShapeError>(
      "avg_pool2d_backward shape",
      [] {
        adjoint::avg_pool2d_backward(ones({1, 1, 2, 2}), {1, 1, 2, 2}, {.kernel_size = 2});
      },
      "avg_pool2d_backward([1, 1, 2, 2] f32): the gradient must have shape [1, 1, 1, 1], not [1, 1, 2, 2]");
}

void add_errors_of_axes(Cases& cases) {
  cases.error<ShapeError>(
      "max_pool1d rank", [] { max_pool1d(ones({4}), {.kernel_size = 2}); },
      "max_pool1d([4] f32): x must be (N, C, L) or (C, L), not [4]");
  cases.error<ShapeError>(
      "max_pool1d window",
      [] {
        max_pool1d(ones({1, 4}), {.kernel_size = 5});
      },
      "max_pool1d([1, 4] f32): the window of 5 is larger than its axis of 4");
  cases.error<ShapeError>(
      "max_pool1d dilated window",
      [] {
        max_pool1d(ones({1, 4}), {.kernel_size = 3, .padding = 1, .dilation = 3});
      },
      "max_pool1d([1, 4] f32): the window of 3, dilated by 3 to 7, is larger than its axis of 4 with its padding of 1");
  cases.error<ShapeError>(
      "max_pool2d_with_indices rank", [] { (void)max_pool2d_with_indices(ones({4}), {.kernel_size = 2}); },
      "max_pool2d_with_indices([4] f32): x must be (N, C, H, W) or (C, H, W), not [4]");
  cases.error<ShapeError>(
      "max_pool3d rank",
      [] {
        max_pool3d(ones({4, 4, 4}), {.kernel_size = 2});
      },
      "max_pool3d([4, 4, 4] f32): x must be (N, C, D, H, W) or (C, D, H, W), not [4, 4, 4]");
  cases.error<Error>(
      "max_pool3d padding",
      [] {
        max_pool3d(ones({1, 1, 4, 4, 4}), {.kernel_size = 2, .padding = {2, 0, 0}});
      },
      "max_pool3d([1, 1, 4, 4, 4] f32): padding 2 must lie between 0 and half the kernel size 2");
  cases.error<Error>(
      "avg_pool3d dilation",
      [] {
        avg_pool3d(ones({1, 1, 4, 4, 4}), {.kernel_size = 2, .dilation = 2});
      },
      "avg_pool3d([1, 1, 4, 4, 4] f32): dilation is for max pools only");
  cases.error<Error>(
      "avg_pool2d divisor",
      [] {
        avg_pool2d(ones({1, 1, 4, 4}), {.kernel_size = 2, .divisor_override = 0});
      },
      "avg_pool2d([1, 1, 4, 4] f32): divisor_override must not be 0");
  cases.error<DtypeError>(
      "avg_pool1d of integers",
      [] {
        avg_pool1d(ones({1, 4}, i64), {.kernel_size = 2});
      },
      "avg_pool1d([1, 4] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "lp_pool2d p",
      [] {
        lp_pool2d(ones({1, 1, 4, 4}), 0, {.kernel_size = 2});
      },
      "lp_pool2d([1, 1, 4, 4] f32): p 0 must be larger than 0");
  cases.error<Error>(
      "lp_pool1d padding",
      [] {
        lp_pool1d(ones({1, 1, 4}), 2, {.kernel_size = 2, .padding = 1});
      },
      "lp_pool1d([1, 1, 4] f32): padding must be 0 and dilation 1 here, not 1 and 1");
}

void add_unpool_errors(Cases& cases) {
  cases.error<ShapeError>(
      "max_unpool2d indices",
      [] {
        max_unpool2d(ones({1, 2, 2}), zeros({1, 2, 3}, i64), {.kernel_size = 2});
      },
      "max_unpool2d([1, 2, 2] f32, [1, 2, 3] i64): the indices must have shape [1, 2, 2], not [1, 2, 3]");
  cases.error<ShapeError>(
      "max_unpool2d size",
      [] {
        max_unpool2d(ones({1, 2, 2}), zeros({1, 2, 2}, i64), {.kernel_size = 2}, {4, 6});
      },
      "max_unpool2d([1, 2, 2] f32, [1, 2, 2] i64): size 6 must lie between 3 and 5");
  cases.error<ShapeError>(
      "max_unpool1d sizes beyond 64 bits",
      [] {
        constexpr int64_t far = int64_t{1} << 62;
        max_unpool1d(ones({1, 1}), zeros({1, 1}, i64), {.kernel_size = 1, .stride = far, .padding = far - 1}, {5});
      },
      "max_unpool1d([1, 1] f32, [1, 1] i64): -9223372036854775805 + -4611686018427387903 does not fit into 64 bits");
  cases.error<DtypeError>(
      "max_unpool1d of integers",
      [] {
        max_unpool1d(ones({1, 1}, i64), zeros({1, 1}, i64), {.kernel_size = 2});
      },
      "max_unpool1d([1, 1] i64, [1, 1] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  cases.error<IndexError>(
      "max_unpool1d index",
      [] {
        max_unpool1d(ones({1, 1}), full({1, 1}, 2), {.kernel_size = 2});
      },
      "max_unpool1d([1, 1] f32, [1, 1] i64): index 2 is out of range for an axis of size 2");
}

}  // namespace

void add_pool_error_cases(Cases& cases) {
  add_errors(cases);
  add_errors_of_axes(cases);
  add_unpool_errors(cases);
}

}  // namespace weft::testing
