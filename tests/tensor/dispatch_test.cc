// Dispatch: what every op has in common. Memory order of results, views and masks, observers, errors that name the op.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/dispatch/any_op.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions_all.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/infer.h"
#include "tensor/ops/softmax.h"
#include "tensor/ops/view.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

/// (2, 3, 4, 5) in channels-last memory.
Tensor channels_last() { return arange(120).to(f32).view({2, 4, 5, 3}).permute({0, 3, 1, 2}); }
Tensor row_major() { return arange(120).to(f32).view({2, 3, 4, 5}); }

TEST(MemoryOrder, OfAResult) {
  const Tensor last = channels_last(), rows = row_major(), turned = arange(12).to(f32).view({3, 4}).t();
  const Strides &kLast = last.strides(), &kRows = rows.strides();
  ASSERT_NE(kLast, kRows);
  const Tensor gaps = arange(24).to(f32).view({4, 6}).slice(1, 0, std::nullopt, 2);
  struct Row {
    const char* statement;
    Tensor result;
    Strides strides;
  };
  const std::vector<Row> table = {
      {"a function keeps its input's order", exp(last), kLast},
      {"with a number", last * 2.0, kLast},
      {"the first input of two decides", last + rows, kLast},
      {"also the other way round", rows + last, kRows},
      {"a number in a tensor has no order", tensor(2.0) * last, kLast},
      {"a broadcast input does not have the result's shape", ones({5}) + last, kLast},
      {"nor does one of size 1 axes", ones({1, 3, 1, 1}) * last, kLast},
      {"a cast keeps it", last.to(f64), kLast},
      {"a clone keeps it", last.clone(), kLast},
      {"like-constructors keep it", zeros_like(last), kLast},
      {"a comparison keeps it", last > rows, kLast},
      {"contiguous is row-major", last.contiguous(), kRows},
      {"a transposed input gives a transposed result", -turned, turned.strides()},
      {"an input with gaps is not dense", -gaps, Strides({3, 1})},
      {"an expanded input is not dense", -ones({3, 1}).expand({3, 4}), Strides({4, 1})},
      {"a reversed input is not dense", -arange(4).to(f32).flip({0}), Strides({1})},
      {"cat follows its first input", cat({last, rows}, 0), Strides({60, 1, 15, 3})},
      {"cat of row-major first", cat({rows, last}, 0), kRows},
      {"where follows its first input of the result's shape", where(last > 3.0, last, rows), kLast},
  };
  for (const Row& row : table) {
    EXPECT_EQ(row.result.strides(), row.strides) << row.statement;
    EXPECT_TRUE(row.result.layout().is_dense()) << row.statement;
  }
}

TEST(MemoryOrder, AxesOfSizeOneMakeNoOrder) {
  const Tensor odd = ones({2, 3}).t().unsqueeze(1).unsqueeze(0);  // [1, 3, 1, 2]
  const Tensor ambiguous = ones({4}).as_strided({1, 4}, {1, 1});
  EXPECT_EQ((ambiguous + 1.0).strides(), Strides({4, 1}));
  EXPECT_TRUE((ambiguous + 1.0).is_contiguous());
  EXPECT_TRUE((odd + 1.0).layout().is_dense());
}

TEST(MemoryOrder, ValuesDoNotDependOnIt) {
  const Tensor last = channels_last();
  EXPECT_EQ(numbers(last + row_major()), numbers(last.contiguous() + row_major()));
  EXPECT_EQ(numbers(last.sum({1, 3})), numbers(last.contiguous().sum({1, 3})));
}

TEST(Dispatch, AViewOpCopiesNothing) {
  const Tensor x = row_major();
  for (const Tensor& view : {x.view({6, 20}), x.transpose(1, 3), x.slice(2, 1, 3), x[1], x.flip({0}), x.unsqueeze(0),
                             x.pad({{0, 0}, {0, 0}, {1, 1}, {0, 0}}), x.unfold(3, 2, 1), x.diagonal(), x.detach(),
                             x.expand({7, 2, 3, 4, 5})})
    EXPECT_TRUE(view.shares_storage(x));
}

TEST(Dispatch, APaddedInputReadsAsZeroInEveryOp) {
  const Tensor padded = tensor({1.0, 2.0}).pad({{1, 1}});
  EXPECT_EQ(numbers(padded + 1.0), Numbers({1, 2, 3, 1}));
  EXPECT_EQ(numbers(padded * padded), Numbers({0, 1, 4, 0}));
  EXPECT_EQ(numbers(exp(padded) * 0.0 + padded), Numbers({0, 1, 2, 0}));
  EXPECT_EQ(padded.sum().item<double>(), 3.0);
  EXPECT_EQ(padded.min().item<double>(), 0.0);
  EXPECT_EQ(numbers(cat({padded, padded})), Numbers({0, 1, 2, 0, 0, 1, 2, 0}));
  EXPECT_EQ(numbers(padded.view({2, 2})), Numbers({0, 1, 2, 0})) << "materialized where a mask cannot follow";
  EXPECT_EQ(numbers(matmul(padded.view({1, 4}), padded.view({4, 1}))), Numbers({5}));
  EXPECT_EQ(padded.argmax().item<int64_t>(), 2);
  EXPECT_EQ(numbers(padded.softmax(0) * 0.0), Numbers({0, 0, 0, 0}));
}

TEST(Dispatch, AViewThatStridesCannotExpressNamesReshape) {
  try {
    row_major().transpose(0, 1).view({120});
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "view([3, 2, 4, 5] f32): view of shape [3, 2, 4, 5] with strides [20, 60, 5, 1] cannot be a view; use "
                 "reshape(), which copies where it must");
  }
}

TEST(Dispatch, ObserversSeeEveryOpInOrderAndTheirScopeEnds) {
  struct Names final : Observer {
    std::vector<std::string> names;
    void end(const ObserverEvent& event) override {
      names.push_back(std::string(event.name) + event.outputs[0].shape().to_string());
    }
  } first, second;
  const Tensor x = ones({2, 3});
  {
    ObserverScope outer(first);
    (x * x).sum(1);
    ObserverScope inner(second);
    x.t();
  }
  x + 1.0;
  EXPECT_EQ(first.names, std::vector<std::string>({"mul[2, 3]", "sum[2]", "permute[3, 2]"}));
  EXPECT_EQ(second.names, std::vector<std::string>({"permute[3, 2]"}));
}

TEST(Dispatch, ObserverScopesEndInAnyOrderAndTakeAnObserverOnce) {
  struct Count final : Observer {
    int seen = 0;
    void end(const ObserverEvent&) override { ++seen; }
  } first, second;
  auto outer = std::make_unique<ObserverScope>(first), inner = std::make_unique<ObserverScope>(second);
  EXPECT_THROW(ObserverScope again(first), Error);  // the chain would have no end
  const Tensor x = ones({2});
  outer.reset();
  const int before = first.seen;
  (void)(x + 1.0);
  inner.reset();
  (void)(x + 1.0);
  EXPECT_EQ(first.seen, before);
  EXPECT_EQ(second.seen, before + 1);
  EXPECT_FALSE(is_observed());
}

/// Ends its own scope and others, or begins another, at the first event that ends.
struct Changing : Observer {
  std::vector<std::unique_ptr<ObserverScope>> scopes;
  Observer* added = nullptr;
  int ended = 0;
  void end(const ObserverEvent&) override {
    ++ended;
    scopes.clear();
    if (added != nullptr) scopes.push_back(std::make_unique<ObserverScope>(*std::exchange(added, nullptr)));
  }
};

TEST(Dispatch, AnObserverMayEndAndBeginScopes) {
  const Tensor x = ones({2});
  Changing lasting;  // told after the other
  const ObserverScope scope(lasting);
  {
    Changing first, ended;
    for (Observer* observer : {static_cast<Observer*>(&ended), static_cast<Observer*>(&first)})
      first.scopes.push_back(std::make_unique<ObserverScope>(*observer));
    (void)neg(x);
    EXPECT_EQ(first.ended, 1);
    EXPECT_EQ(ended.ended, 0) << "its scope was over";
    (void)neg(x);
    EXPECT_EQ(first.ended, 1);
  }
  EXPECT_EQ(lasting.ended, 2);
  Changing later;
  lasting.added = &later;
  (void)neg(x);
  EXPECT_EQ(later.ended, 0);
  (void)neg(x);
  EXPECT_EQ(later.ended, 1);
}

TEST(Dispatch, AnObserverThatThrowsKeepsNoOtherFromTheEnd) {
  struct Depth final : Observer {
    int depth = 0;
    bool begin_throws = false, end_throws = false;
    void begin(const ObserverEvent&) override {
      if (begin_throws) throw Error("at the begin");
      ++depth;
    }
    void end(const ObserverEvent&) override {
      --depth;
      if (end_throws) throw Error("at the end");
    }
  } first, throws, last;
  const ObserverScope scopes[] = {ObserverScope(last), ObserverScope(throws), ObserverScope(first)};
  const Tensor x = ones({2});
  throws.begin_throws = true;
  EXPECT_THROW((void)neg(x), Error);
  EXPECT_EQ(first.depth, 0);
  EXPECT_EQ(throws.depth, 0);
  EXPECT_EQ(last.depth, 0) << "it was told of no begin";
  throws.begin_throws = false;
  throws.end_throws = first.end_throws = true;
  EXPECT_THROW((void)neg(x), Error);
  throws.end_throws = first.end_throws = false;
  (void)neg(x);
  for (const Depth* observer : {&first, &throws, &last}) EXPECT_EQ(observer->depth, 0);
}

TEST(Dispatch, AnObserverThatLeavesAndThrowsKeepsTheOthersInStep) {
  struct Leaves final : Observer {
    int depth = 0;
    bool throws = false;
    std::optional<ObserverScope>*at_begin = nullptr, *at_end = nullptr;
    void begin(const ObserverEvent&) override {
      if (at_begin != nullptr) at_begin->reset();
      if (throws) throw Error("at the begin");
      ++depth;
    }
    void end(const ObserverEvent&) override {
      --depth;
      if (at_end != nullptr) at_end->reset();
    }
  };
  for (const bool leaves_itself : {true, false}) {
    Leaves first, throws, next, last;
    std::optional<ObserverScope> scopes[4];
    Leaves* const observers[] = {&last, &next, &throws, &first};
    for (int i = 0; i < 4; ++i) scopes[i].emplace(*observers[i]);
    throws.throws = true;
    if (leaves_itself)
      throws.at_begin = &scopes[2];
    else
      first.at_end = &scopes[1];  // the scope of the one that comes after the one that throws
    EXPECT_THROW((void)neg(ones({2})), Error);
    for (const Leaves* observer : observers) EXPECT_EQ(observer->depth, 0) << leaves_itself;
    for (int i = 3; i >= 0; --i) scopes[i].reset();
  }
}

TEST(Dispatch, TheOutermostFunctionIsNamedInErrors) {
  auto text = [](auto&& f) {
    try {
      f();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(text([] { matmul(ones({2, 3}), ones({4, 5})); }).find("matmul([2, 3] f32, [4, 5] f32): "), 0u);
  EXPECT_EQ(text([] { ones({2}) + ones({3}); }).find("add([2] f32, [3] f32): "), 0u);
  EXPECT_EQ(text([] { ones({2}).var(3); }).find("var([2] f32): "), 0u) << "composed or not";
  EXPECT_EQ(text([] { ones({2}) + ones({3}); }), text([] { ones({2}) + ones({3}); })) << "no frame is left behind";
}

TEST(Dispatch, ThreadCountsBelowOneAreErrors) {
  const int before = num_threads();
  for (int bad : {0, -1}) EXPECT_THROW(set_num_threads(bad), Error);
  EXPECT_EQ(num_threads(), before);
}

TEST(Dispatch, DescriptorsPrintTheirAttributesAndCompare) {
  const AnyOp a(op::Softmax{1}), b(op::Softmax{1}), c(op::Softmax{0});
  EXPECT_EQ(a.to_string(), "softmax(axis=1)");
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(a == AnyOp(op::Detach{}));
  AnyOp large(op::Slice{0, std::nullopt, 5, 2});  // with its attributes beyond what fits inline
  const AnyOp copy = large;
  large = a;
  EXPECT_EQ(copy.to_string(), "slice(axis=0, start=none, end=5, step=2)");
  EXPECT_EQ(large.to_string(), "softmax(axis=1)");
}

/// Prints each op that runs.
struct Descriptors : Observer {
  std::vector<std::string> texts;
  void begin(const ObserverEvent& event) override {
    texts.push_back(text(event.name, "(", event.info->attributes(event.op), ")"));
  }
};

TEST(Dispatch, OptionsPrintAsTheyAreWritten) {
  const Tensor x = ones({1, 2, 6, 6}), w = ones({3, 2, 2, 2}), places = zeros({1, 2, 2, 2}), q = ones({1, 2, 3, 4});
  const Tensor samples = zeros({1, 2, 3}), cube = ones({1, 2, 4, 4, 4});
  Generator generator(7);
  const std::vector<Padding> widths = {{0, 0}, {0, 0}, {1, 2}, {3, 0}};
  struct Row {
    std::function<Tensor()> call;
    const char* text;  // of the last op
  };
  const std::vector<Row> table = {
      {[&] {
         return conv2d(x, w, {.stride = {1, 2}, .padding = 1});
       },
       "conv(options={stride=(1, 2), padding=1, dilation=1, groups=1})"},
      {[&] {
         return max_pool2d(x, {.kernel_size = {2, 3}, .ceil_mode = true});
       },
       "max_pool2d(windows={kernel_size=(2, 3), stride=(2, 3), padding=0, dilation=1, ceil_mode=true}, "
       "with_indices=false)"},
      {[&] {
         return adaptive_max_pool2d(x, {3, 2});
       },
       "max_pool2d(windows=adaptive to (3, 2), with_indices=false)"},
      {[&] { return avg_pool2d(x, {.kernel_size = 2, .padding = 1}); },
       "avg_pool2d(options={kernel_size=2, stride=2, padding=1, dilation=1, ceil_mode=false})"},
      {[&] {
         return fractional_max_pool3d(cube, {.kernel_size = 2, .output_size = {3, 2, 1}}, samples);
       },
       "fractional_max_pool(kernel=2, size=(3, 2, 1))"},
      {[&] {
         return interpolate(x, {.size = {3, 4}, .mode = Interpolation::bilinear, .align_corners = true});
       },
       "resample(lines=linear(6 to 3, aligned corners), columns=linear(6 to 4, aligned corners))"},
      {[&] { return grid_sample(x, places, {.align_corners = true}); },
       "grid_sample(options={bilinear, zeros, aligned corners})"},
      {[&] { return scaled_dot_product_attention(q, q, q, {.causal = true}); },
       "attention(setting={causal=true, scale=0.5, dropout_p=0})"},
      {[&] { return pad(x, widths, PadMode::replicate); },
       "pad_mode(widths=[(0, 0), (0, 0), (1, 2), (3, 0)], mode=replicate)"},
      {[&] {
         return shrink(x, {{0, 1}, {0, 2}, {1, 2}, {3, 5}});
       },
       "shrink(bounds=[(0, 1), (0, 2), (1, 2), (3, 5)])"},
      {[&] { return randint(0, 5, {2}, generator); },
       "random(distribution=integers, shape=[2], dtype=i64, low=0, high=5, seed=7, offset=0, device=cpu)"}};
  for (const Row& row : table) {
    Descriptors seen;
    const ObserverScope scope(seen);
    (void)row.call();
    EXPECT_NE(std::ranges::find(seen.texts, row.text), seen.texts.end()) << row.text << " is not " << seen.texts.back();
  }
}

}  // namespace
}  // namespace weft
