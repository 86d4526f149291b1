// Cases of group, instance, RMS and local response normalization.
#include <algorithm>
#include <cmath>

#include "tensor/functions/fill.h"
#include "tensor/functions/group_norm.h"
#include "tensor/functions/layer_norm.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/reference/norm.h"

namespace weft::testing {

namespace {

constexpr double kEps = 1e-2;  // large enough to be seen

/// Over channels of one group of `size` channels and all further axes.
Array group_normed(const Arrays& x, int64_t size) {
  return reference::normalized(x[0], x[1], x[2], reference::channel_groups(x[0].shape, size), kEps);
}

/// Lines of small numbers with a large one at their ends, in the middle and at a quarter.
InputSpec outliers(int64_t lines, int64_t length) {
  std::vector<double> values;
  for (int64_t i = 0; i < lines * length; ++i) {
    const int64_t at = i % length;
    const bool large = at == 0 || at == length / 4 || at == length / 2 || at == length - 1;
    values.push_back(large ? 1000 : static_cast<double>(i * 7 % 13));
  }
  return given({1, lines, length}, values);
}

void add_group_norm(Cases& cases) {
  cases
      .add("group norm",
           {{normal({2, 4, 3}), normal({4}), normal({4})},
            {normal({3, 6}), normal({6}), normal({6})},
            {normal({2, 4, 2, 2}), normal({4}), absent()},
            {normal({1, 2, 5}), absent(), normal({2})},
            {normal({1, 4, 2, 3, 2}), absent(), absent()},
            {normal({0, 4, 3}), normal({4}), normal({4})},
            {normal({2, 4, 0}), normal({4}), normal({4})}},
           CALL(group_norm(x[0], 2, x[1], x[2], kEps)),
           [](const Arrays& x) { return group_normed(x, x[0].size(1) / 2); })
      .accepts(kFloating)
      .loose(20);
  cases
      .add("group norm of one group",
           {{normal({2, 3, 4}), normal({3}), normal({3})}, {normal({2, 5, 1, 2}), absent(), absent()}},
           CALL(group_norm(x[0], 1, x[1], x[2], kEps)), [](const Arrays& x) { return group_normed(x, x[0].size(1)); })
      .accepts(kFloating)
      .loose(20);
  cases
      .add("group norm of long rows", {{normal({2, 6, 9, 11}), normal({6}), normal({6})}},
           CALL(group_norm(x[0], 3, x[1], x[2], kEps)), [](const Arrays& x) { return group_normed(x, 2); })
      .compares(DTypes{f32, f64})
      .no_gradient()
      .loose(20);
  cases
      .add("group norm of many single pixels", {{normal({2, 240}), normal({240}), normal({240})}},
           CALL(group_norm(x[0], 2, x[1], x[2], kEps)), [](const Arrays& x) { return group_normed(x, 120); })
      .accepts(kFloating)
      .loose(20);
  // Few images, whose channels are divided, and many.
  cases
      .add("group norm of channels-last images",
           {{normal({2, 20, 3, 2}), normal({20}), normal({20})},
            {normal({1, 8, 2, 3, 2}), absent(), normal({8})},
            {normal({17, 4, 3}), normal({4}), absent()}},
           CALL(group_norm(movedim(movedim(x[0], 1, -1).contiguous(), -1, 1), 4, x[1], x[2], kEps)),
           [](const Arrays& x) { return group_normed(x, x[0].size(1) / 4); })
      .accepts(kFloating)
      .loose(20);
  cases
      .add("group norm of large channels-last images", {{normal({2, 72, 9, 11}), normal({72}), normal({72})}},
           CALL(group_norm(movedim(movedim(x[0], 1, -1).contiguous(), -1, 1), 24, x[1], x[2], kEps)),
           [](const Arrays& x) { return group_normed(x, 3); })
      .compares(DTypes{f32, f64})
      .no_gradient()
      .loose(20);
  // Values that lie far from most: what is taken for near the mean is not.
  cases
      .add("group norm of channels-last outliers", {{outliers(4, 100), absent(), absent()}},
           CALL(group_norm(movedim(movedim(x[0], 1, -1).contiguous(), -1, 1), 4, x[1], x[2], kEps)),
           [](const Arrays& x) { return group_normed(x, 1); })
      .no_gradient()
      .loose(20);
  cases
      .add("instance norm",
           {{normal({2, 3, 4}), normal({3}), normal({3})},
            {normal({2, 2, 2, 3}), normal({2}), absent()},
            {normal({1, 2, 2, 2, 2}), absent(), absent()},
            {normal({0, 2, 3}), absent(), absent()}},
           CALL(instance_norm(x[0], {}, {}, x[1], x[2], {.eps = kEps})),
           [](const Arrays& x) { return group_normed(x, 1); })
      .accepts(kFloating)
      .loose(20);
}

Reference rms_normed(int64_t axes) {
  return [axes](const Arrays& x) {
    const auto lead = x[0].rank() - axes;
    return build(x[0].shape, [&](const Index& at) {
      double squares = 0, n = 0;
      for (const Index& i : indices_of(x[0].shape))
        if (std::equal(i.begin(), i.begin() + lead, at.begin())) squares += x[0].at(i) * x[0].at(i), ++n;
      return x[0].at(at) / std::sqrt(squares / n + kEps) * x[1].at_or(Index(at.begin() + lead, at.end()), 1);
    });
  };
}

void add_rms_norm(Cases& cases) {
  cases
      .add("rms norm",
           {{normal({3, 4}), normal({4})},
            {normal({2, 3, 4}), absent()},
            {normal({5}), normal({5})},
            {normal({2, 19}), normal({19})},
            {normal({0, 4}), normal({4})}},
           CALL(rms_norm(x[0], {x[0].size(-1)}, x[1], kEps)), rms_normed(1))
      .accepts(kFloating)
      .loose(20);
  cases
      .add("rms norm of two axes", {{normal({3, 2, 2}), normal({2, 2})}, {normal({2, 3}), absent()}},
           CALL(rms_norm(x[0], {x[0].size(-2), x[0].size(-1)}, x[1], kEps)), rms_normed(2))
      .accepts(kFloating)
      .loose(20);
}

Reference response_normed(const LocalResponseNormOptions& o) {
  return [o](const Arrays& x) {
    return build(x[0].shape, [&](const Index& at) {
      double squares = 0;
      for (int64_t c = at[1] - o.size / 2; c <= at[1] + (o.size - 1) / 2; ++c) {
        Index near = at;
        near[1] = c;
        if (c >= 0 && c < x[0].size(1)) squares += x[0].at(near) * x[0].at(near);
      }
      return x[0].at(at) / std::pow(o.k + o.alpha * squares / static_cast<double>(o.size), o.beta);
    });
  };
}

void add_local_response_norm(Cases& cases) {
  for (const int64_t size : {1, 2, 3, 5}) {
    const LocalResponseNormOptions options{.size = size, .alpha = 0.5, .beta = 0.6, .k = 1.5};
    cases
        .add("local response norm of " + std::to_string(size),
             {{normal({2, 4, 3})}, {normal({1, 3, 2, 2})}, {normal({2, 6})}, {normal({2, 0, 3})}},
             CALL(local_response_norm(x[0], options)), response_normed(options))
        .accepts(kFloating)
        .loose(8);
    cases
        .add("local response norm of " + std::to_string(size) + " by place", {{normal({2, 4, 3})}},
             CALL(local_response_norm(x[0], size, 0.5, 0.6, 1.5)), response_normed(options))
        .accepts(kFloating)
        .loose(8);
  }
}

void add_errors(Cases& cases) {
  const std::string same = "group_norm([2, 4, 3] f32): ";
  cases.error<ShapeError>(
      "group_norm groups",
      [] {
        group_norm(ones({2, 4, 3}), 3);
      },
      same + "4 channels do not divide into 3 groups");
  cases.error<ShapeError>(
      "group_norm no groups",
      [] {
        group_norm(ones({2, 4, 3}), 0);
      },
      same + "4 channels do not divide into 0 groups");
  cases.error<ShapeError>(
      "group_norm axes", [] { group_norm(ones({4}), 2); },
      "group_norm([4] f32): x must be (N, C) or (N, C, ...), not [4]");
  cases.error<ShapeError>(
      "group_norm weight",
      [] {
        group_norm(ones({2, 4, 3}), 2, ones({3}));
      },
      "group_norm([2, 4, 3] f32, [3] f32): per-channel tensors must be [4] f32, not [3] f32");
  cases.error<DtypeError>(
      "group_norm of integers",
      [] {
        group_norm(ones({2, 4, 3}, i64), 2);
      },
      "group_norm([2, 4, 3] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<ShapeError>(
      "instance_norm axes",
      [] {
        instance_norm(ones({2, 4}));
      },
      "instance_norm([2, 4] f32): x must be (N, C, L) or (N, C, ...), not [2, 4]");
  cases.error<ShapeError>(
      "instance_norm of one value",
      [] {
        instance_norm(ones({2, 4, 1}));
      },
      "instance_norm([2, 4, 1] f32): each channel of an image has one value, which has no variance");
  cases.error<Error>(
      "instance_norm without statistics",
      [] {
        instance_norm(ones({2, 4, 3}), {}, {}, {}, {}, {.use_input_stats = false});
      },
      "instance_norm([2, 4, 3] f32): it takes running_mean and running_var where use_input_stats is false");
  cases.error<ShapeError>(
      "rms_norm axes",
      [] {
        rms_norm(ones({2, 3}), {2});
      },
      "rms_norm([2, 3] f32): the last axes must be [2]");
  cases.error<ShapeError>(
      "rms_norm weight",
      [] {
        rms_norm(ones({2, 3}), {3}, ones({2}));
      },
      "rms_norm([2, 3] f32, [2] f32): weight and bias must be [3] f32, not [2] f32");
  cases.error<Error>(
      "local_response_norm size",
      [] {
        local_response_norm(ones({2, 3}), {.size = 0});
      },
      "local_response_norm([2, 3] f32): size must be 1 or more, not 0");
  cases.error<ShapeError>(
      "local_response_norm axes", [] { local_response_norm(ones({3})); },
      "local_response_norm([3] f32): x must be (N, C) or (N, C, ...), not [3]");
  cases.error<DtypeError>(
      "local_response_norm of integers",
      [] {
        local_response_norm(ones({2, 3}, i64));
      },
      "local_response_norm([2, 3] i64): x must be floating, not i64");
}

}  // namespace

void add_group_norm_cases(Cases& cases) {
  add_group_norm(cases);
  add_rms_norm(cases);
  add_local_response_norm(cases);
  add_errors(cases);
}

}  // namespace weft::testing
