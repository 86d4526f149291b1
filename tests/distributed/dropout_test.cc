// Dropout belongs to the sample: what ranks draw together is, bit for bit, what one process draws for the whole batch.
#include "autograd/checkpoint.h"
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

constexpr int64_t kSamples = 8;  // of all ranks together

using Call = std::function<Tensor(const Tensor&)>;

/// call(x) and the gradient of x, twice one after the other, concatenated: of this rank's samples.
Tensor results(const Call& call, const Tensor& all, int64_t rank, int64_t size) {
  manual_seed(3);
  const int64_t own = kSamples / size;
  std::vector<Tensor> out;
  for (int round = 0; round < 2; ++round) {
    Tensor x = parameter(all.narrow(0, rank * own, own).clone());
    Tensor y;
    {
      const distributed::RankRandomScope scope(rank, size, own);
      y = call(x);
    }
    y.square().sum().backward();
    out.push_back(y.detach().flatten(1));
    out.push_back(x.grad().flatten(1));
  }
  return cat(out, 1);
}

void expect_the_same_at_any_number_of_ranks(const Call& call, const Shape& shape) {
  const auto& g = group();
  Generator generator(17);
  const Tensor all = randn(shape, generator), whole = results(call, all, 0, 1);
  const Tensor together = g.all_gather(results(call, all, g.rank(), g.size())).flatten(0, 1);
  EXPECT_TRUE(equal(together, whole));
  const Tensor kept = (whole != 0.0).to(f32);
  EXPECT_FALSE(equal(kept[0], kept[1])) << "samples have numbers of their own";
}

Tensor dropped(const Tensor& x) { return dropout(dropout(x, 0.25).exp(), 0.5); }

Tensor attended(const Tensor& x) {
  const Tensor heads = x.unflatten(-1, {2, 4}).transpose(1, 2);
  return scaled_dot_product_attention(heads, heads, heads, {.causal = true, .dropout_p = 0.3}).transpose(1, 2);
}

TEST(SampleDropout, OfAnyNumberOfElements) {
  for (const int64_t width : {1, 2, 3, 4, 5, 7, 4096, 4099})
    expect_the_same_at_any_number_of_ranks(dropped, {kSamples, 3, width});
}

TEST(SampleDropout, OfManySamplesInOneAxis) {
  expect_the_same_at_any_number_of_ranks(
      [](const Tensor& x) {
        return dropped(x.flatten(0, 1)).unflatten(0, {x.size(0), x.size(1)});
      },
      {kSamples, 5, 3});
}

TEST(SampleDropout, OfAttention) { expect_the_same_at_any_number_of_ranks(attended, {kSamples, 5, 8}); }

TEST(SampleDropout, UnderCheckpoint) {
  const auto both = [](const Tensor& x) { return dropped(attended(x).flatten(2).narrow(2, 0, 7)); };
  expect_the_same_at_any_number_of_ranks([&](const Tensor& x) { return autograd::checkpoint(both, x); },
                                         {kSamples, 5, 8});
  Generator generator(17);
  const Tensor all = randn({kSamples, 5, 8}, generator);
  const Tensor again = results([&](const Tensor& x) { return autograd::checkpoint(both, x); }, all, 0, 1);
  EXPECT_TRUE(equal(again, results(both, all, 0, 1))) << "a checkpoint changes nothing";
}

TEST(SampleDropout, OfAModelThatIsCalled) {
  const auto& g = group();
  nn::Sequential model(nn::Dropout(0.5));
  const Tensor all = ones({kSamples, 6});
  const int64_t own = kSamples / g.size();
  manual_seed(5);
  const distributed::DataParallel parallel(model, g);
  const Tensor first = parallel(all.narrow(0, g.rank() * own, own));
  const Tensor second = parallel.with(own, [&](nn::Sequential& m) { return m(all.narrow(0, g.rank() * own, own)); });
  manual_seed(5);
  for (const Tensor& y : {first, second}) {
    const distributed::RankRandomScope scope(0, 1, kSamples);
    EXPECT_TRUE(equal(g.all_gather(y).flatten(0, 1), model(all)));
  }
}

TEST(SampleDropout, OtherDrawsBelongToTheBatch) {
  const auto& g = group();
  manual_seed(5);
  Tensor own, drawn;
  {
    const distributed::RankRandomScope scope(g.rank(), g.size(), 2);
    own = randn({3});
    Generator generator(1);
    drawn = dropout(ones({2, 64}), 0.5, generator);
  }
  Generator generator(1);
  EXPECT_TRUE(equal(drawn, dropout(ones({2, 64}), 0.5, generator))) << "a generator of the caller's is left alone";
  manual_seed(5);
  for (int64_t rank = 0; rank < g.size(); ++rank) {
    const distributed::RankRandomScope scope(0, 1, 2);
    const Tensor x = randn({3});
    EXPECT_EQ(equal(own, x), rank == g.rank());
  }
  EXPECT_EQ(random_state(), (RandomState{5, static_cast<uint64_t>(2 * g.size())}));
}

}  // namespace
}  // namespace weft::test
