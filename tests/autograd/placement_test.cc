// Gradients that rules write into the gradient of the tensor their inputs are views of, and into a parameter's gradient
// buffer (autograd/placement.h).
#include <map>

#include "autograd/gradient_buffer.h"
#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using testing::numbers;
using testing::Numbers;

class Placement : public testing::NoLeaks {};

/// How often each op and each node of backward ran.
class Counts : public Observer {
 public:
  void begin(const ObserverEvent& event) override { ++of[std::string(event.name)]; }
  std::map<std::string, int> of;
};

/// (batch, T, columns) as (batch, heads, T, D), from `first` on.
Tensor heads_of(const Tensor& x, int64_t first, int64_t heads, int64_t depth) {
  return transpose(unflatten(narrow(x, -1, first, heads * depth), -1, {heads, depth}), -3, -2);
}

/// The gradients of attention's sum of squares when q, k and v are what `split` makes of one tensor; and what the ops
/// ran.
template <class Split> Tensor gradient_of(const Tensor& packed, const Split& split, Counts* counts = nullptr) {
  const Tensor x = parameter(packed.clone());
  const std::array<Tensor, 3> in = split(x * 1.0);
  const Tensor loss = square(scaled_dot_product_attention(in[0], in[1], in[2])).sum();
  if (counts == nullptr) {
    loss.backward();
  } else {
    const ObserverScope scope(*counts);
    loss.backward();
  }
  return x.grad().detach();
}

/// The same with copies between the views and attention, so that nothing can be placed.
template <class Split> Tensor copied_gradient_of(const Tensor& packed, const Split& split) {
  return gradient_of(packed, [&](const Tensor& x) {
    std::array<Tensor, 3> in = split(x);
    for (Tensor& part : in) part = part * 1.0;
    return in;
  });
}

TEST_F(Placement, PartsThatCoverTheWholeNeedNoCopy) {
  const Tensor packed = randn({2, 5, 24}, f64);
  const auto split = [](const Tensor& x) {
    return std::array{heads_of(x, 0, 2, 4), heads_of(x, 8, 2, 4), heads_of(x, 16, 2, 4)};
  };
  Counts counts;
  const Tensor placed = gradient_of(packed, split, &counts);
  EXPECT_EQ(numbers(placed), numbers(copied_gradient_of(packed, split)));
  EXPECT_EQ(counts.of["attention_backward"], 1);
  for (const char* absent : {"add_into", "view_adjoint", "fill", "add", "copy_", "slice", "permute"})
    EXPECT_EQ(counts.of[absent], 0) << absent << " ran in backward";
}

TEST_F(Placement, PartsOfDifferentSizesAndGaps) {
  const Tensor packed = randn({2, 5, 40}, f64);  // the last 8 columns are not used
  const auto split = [](const Tensor& x) {
    const Tensor q = heads_of(x, 0, 4, 4), k = heads_of(x, 16, 2, 4), v = heads_of(x, 24, 2, 4);
    return std::array{unflatten(q, -3, {2, 2}).select(-3, 0), k, v};
  };
  const Tensor gradient = gradient_of(packed, split);
  EXPECT_EQ(numbers(gradient), numbers(copied_gradient_of(packed, split)));
  EXPECT_EQ(numbers(narrow(gradient, -1, 32, 8).abs().sum()), Numbers({0}));
}

TEST_F(Placement, PartsThatOverlapAreAdded) {
  const Tensor packed = randn({5, 12}, f64);
  const auto same = [](const Tensor& x) { return std::array{x, x, x}; };
  EXPECT_TRUE(allclose(gradient_of(packed, same), copied_gradient_of(packed, same)));
  const auto overlapping = [](const Tensor& x) {
    return std::array{narrow(x, 1, 0, 6), narrow(x, 1, 3, 6), narrow(x, 1, 6, 6)};
  };
  EXPECT_TRUE(allclose(gradient_of(packed, overlapping), copied_gradient_of(packed, overlapping)));
}

TEST_F(Placement, WhatElseUsesTheWholeOrAPartIsAdded) {
  const Tensor packed = randn({4, 9}, f64);
  const auto run = [&](bool copies) {
    const Tensor x = parameter(packed.clone());
    const Tensor y = x * 2.0;
    const Tensor q = narrow(y, 1, 0, 3), k = narrow(y, 1, 3, 3), v = narrow(y, 1, 6, 3);
    const Tensor first =
        copies ? scaled_dot_product_attention(q * 1.0, k * 1.0, v * 1.0) : scaled_dot_product_attention(q, k, v);
    const Tensor second =
        copies ? scaled_dot_product_attention(k * 1.0, q * 1.0, v * 1.0) : scaled_dot_product_attention(k, q, v);
    (first.sum() + square(second).sum() + (q * k).sum() + y.sum()).backward();
    return x.grad().detach();
  };
  EXPECT_TRUE(allclose(run(false), run(true)));
}

TEST_F(Placement, HooksAndWantedViewsGetTheirGradient) {
  const Tensor x = parameter(randn({4, 9}, f64));
  const Tensor y = x * 1.0;
  Tensor q = narrow(y, 1, 0, 3);
  const Tensor k = narrow(y, 1, 3, 3), v = narrow(y, 1, 6, 3);
  Numbers seen;
  q.register_hook([&](const Tensor& g) {
    seen = numbers(g);
    return g * 2.0;
  });
  const Tensor loss = scaled_dot_product_attention(q, k, v).sum();
  const std::vector<Tensor> wanted = grad({loss}, {k, x}, {.retain_graph = true});
  EXPECT_EQ(numbers(wanted[0]), numbers(narrow(wanted[1], 1, 3, 3)));
  loss.backward();
  EXPECT_EQ(seen.size(), 12u);
  Numbers doubled = seen;
  for (double& value : doubled) value *= 2;
  EXPECT_EQ(numbers(narrow(x.grad(), 1, 0, 3)), doubled);
}

TEST_F(Placement, FrozenPartsStayOut) {
  const Tensor x = parameter(randn({4, 6}, f64));
  const Tensor y = x * 1.0, k = randn({4, 3}, f64);
  const Tensor q = narrow(y, 1, 0, 3), v = narrow(y, 1, 3, 3);
  square(scaled_dot_product_attention(q, k, v.detach())).sum().backward();
  EXPECT_EQ(numbers(narrow(x.grad(), 1, 3, 3).abs().sum()), Numbers({0}));
  EXPECT_GT(narrow(x.grad(), 1, 0, 3).abs().sum().item<double>(), 0);
}

/// A parameter whose gradient is collected in the middle of other memory.
struct Buffered {
  explicit Buffered(const Tensor& value)
      : leaf(parameter(value)), memory(full({value.numel() + 2}, -7.0, value.dtype())) {
    buffer = as_strided(narrow(memory, 0, 1, value.numel()), value.shape(), value.strides());
    autograd::set_gradient_buffer(leaf, buffer);
  }
  /// Nothing was written beside it.
  void expect_frame() const {
    EXPECT_EQ(memory[0].item<double>(), -7);
    EXPECT_EQ(memory[memory.numel() - 1].item<double>(), -7);
  }
  Tensor leaf, memory, buffer;
};

TEST_F(Placement, WeightsAreGivenTheirGradientsInTheirBuffers) {
  const Tensor filters = randn({4, 3, 3, 3}), columns = randn({5, 64}), transposed = randn({64, 5}).t();
  const Tensor images = randn({2, 3, 6, 6});
  const auto loss = [&](const Tensor& f, const Tensor& w) {
    return square(linear(conv2d(images, f, Tensor(), {}).flatten(1), w)).sum();
  };
  for (const Tensor& weight : {columns, transposed}) {
    Buffered f(filters.clone()), w(weight);
    const Tensor f0 = parameter(filters.clone()), w0 = parameter(weight);
    loss(f0, w0).backward();
    const Tensor out = loss(f.leaf, w.leaf);
    Counts counts;
    {
      const ObserverScope scope(counts);
      out.backward();
    }
    EXPECT_EQ(counts.of["copy_"], 0);
    for (const auto& [buffered, plain] : {std::pair(&f, &f0), std::pair(&w, &w0)}) {
      EXPECT_TRUE(buffered->leaf.grad().is_same(buffered->buffer));
      EXPECT_TRUE(equal(buffered->buffer, plain->grad()));
      buffered->expect_frame();
    }
  }
}

TEST_F(Placement, ADifferentGradientIsAddedInTheBuffer) {
  Buffered w(randn({4, 4}, f64));
  const Tensor plain = parameter(w.leaf.detach().clone()), x = randn({3, 4}, f64);
  const auto loss = [&](const Tensor& weight) { return square(linear(linear(x, weight), weight)).sum(); };
  for (int time = 0; time < 2; ++time) {  // used twice, and added to what is there
    loss(w.leaf).backward();
    loss(plain).backward();
    EXPECT_EQ(numbers(w.leaf.grad()), numbers(plain.grad()));
  }
  w.expect_frame();
  const Numbers before = numbers(w.buffer);
  w.leaf.zero_grad();
  const Tensor wanted = grad({linear(x, w.leaf).sum()}, {w.leaf})[0];
  EXPECT_FALSE(wanted.shares_storage(w.buffer));
  EXPECT_EQ(numbers(w.buffer), before) << "grad() collects nothing";
  w.leaf.register_hook([](const Tensor& g) { return g * 2.0; });
  linear(x, w.leaf).sum().backward();
  EXPECT_EQ(numbers(w.buffer), numbers(wanted * 2.0));
}

/// x weight^T, whose backward runs another backward to the weight.
struct LinearByItself : autograd::Function<LinearByItself> {
  static Tensor forward(autograd::Context& context, const Tensor& x, const Tensor& weight) {
    context.save(x, weight);
    return linear(x, weight);
  }
  static std::vector<Tensor> backward(autograd::Context& context, const Tensor& g) {
    const EnableGrad recording;
    const Tensor x = parameter(context.saved(0));
    linear(x, context.saved(1)).backward(g);
    return {x.grad(), Tensor()};
  }
};

TEST_F(Placement, ABackwardWithinBackwardLeavesWhatWaitsInABuffer) {
  Buffered w(randn({4, 4}, f64));
  const Tensor plain = parameter(w.leaf.detach().clone()), x = parameter(randn({3, 4}, f64));
  for (const Tensor& weight : {w.leaf, plain})
    square(linear(LinearByItself::apply(x, weight), weight)).sum().backward();
  EXPECT_TRUE(allclose(w.leaf.grad(), plain.grad(), 1e-12, 1e-12));
  EXPECT_TRUE(w.leaf.grad().is_same(w.buffer));
  w.expect_frame();
}

// The next gradient is written over the one that was saved.
TEST_F(Placement, AnEarlierGradientInABufferCannotBeReadByBackwardAfterwards) {
  Buffered w(randn({4, 4}, f64));
  const Tensor x = randn({3, 4}, f64), factor = parameter(ones({4, 4}, f64));
  const auto placed = [&] { return linear(x, w.leaf).sum(); };
  const auto copied = [&] { return (w.leaf * 2.0).sum(); };
  for (const bool next_is_placed : {true, false}) {
    placed().backward();
    const Tensor product = factor * w.leaf.grad();
    w.leaf.zero_grad();
    const Tensor sum = product.sum() + (next_is_placed ? placed() : copied());
    EXPECT_SAYS(error_of<GradientError>([&] { sum.backward(); }), "but `backward` has written to it since");
    w.leaf.zero_grad();
  }
}

TEST_F(Placement, SecondOrderIsUnchanged) {
  const Tensor packed = randn({1, 3, 12}, f64);
  EXPECT_TRUE(gradgradcheck([](const std::vector<Tensor>& in) { return packed_attention(in[0], 2); }, {packed}));
}

}  // namespace
}  // namespace weft
