// Parts and sums of datasets, and batches of unequal examples.
#include "data/subset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/loader.h"
#include "data/padded.h"
#include "data/synthetic_digits.h"
#include "data/tensor_dataset.h"
#include "data/transform.h"
#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using Numbers = std::vector<int64_t>;

data::TensorDataset<2> pairs(int64_t begin, int64_t end) {
  return data::TensorDataset(arange(begin, end), arange(begin, end) * 10);
}

TEST(Subset, ShowsTheChosenExamples) {
  const auto all = pairs(0, 10);
  const data::Subset part(all, {7, 0, 7});
  EXPECT_EQ(part.size(), 3);
  EXPECT_EQ(part.get(0)[1].item<int>(), 70);
  EXPECT_EQ(part.batch(0, 3)[0].to_vector<int64_t>(), (Numbers{7, 0, 7}));
  EXPECT_THROW(part.get(3), IndexError);
  EXPECT_THROW(part.get(-1), IndexError);
  EXPECT_THROW(data::Subset(all, {10}), IndexError);
  const data::Subset inner(data::Subset(all, {5, 6, 7}), {2});
  EXPECT_EQ(inner.get(0)[0].item<int>(), 7);
}

TEST(Subset, KeepsRandomTransforms) {
  const auto noisy = data::map(
      pairs(0, 4), [](const Tensor& x, RandomKey key) { return x + static_cast<int64_t>(random_bits(key, 0) % 1000); });
  const data::Subset part(noisy, {1, 2});
  EXPECT_TRUE(part.is_random());
  data::DataLoader loader(part, {.batch_size = 2});
  manual_seed(1);
  std::vector<Numbers> epochs;
  for (int i = 0; i < 2; ++i)
    for (const auto& [x, y] : loader) epochs.push_back(x.to_vector<int64_t>());
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(RandomSplit, HasEveryExampleOnce) {
  const auto all = data::synthetic_digits({.count = 30, .seed = 1});
  auto [train, test] = data::random_split(all, {20, 10}, {.seed = 5});
  EXPECT_EQ(train.size(), 20);
  EXPECT_EQ(test.size(), 10);
  Numbers seen = train.indices();
  EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  seen.insert(seen.end(), test.indices().begin(), test.indices().end());
  std::sort(seen.begin(), seen.end());
  for (int64_t i = 0; i < 30; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
  EXPECT_TRUE(equal(test.get(3)[0], all.get(test.indices()[3])[0]));
  auto [again, rest] = data::random_split(all, {20, 10}, {.seed = 5});
  EXPECT_EQ(again.indices(), train.indices());
  manual_seed(2);
  auto [a, b, c] = data::random_split(all, {10, 0, 20});
  auto [d, e, f] = data::random_split(all, {10, 0, 20});
  EXPECT_NE(a.indices(), d.indices());
  EXPECT_EQ(b.size() + e.size(), 0);
  EXPECT_EQ(c.size() + f.size(), 40);
}

TEST(RandomSplit, TakesFractions) {  // sizes from torch 2.13: random_split(range(11), [0.7, 0.2, 0.1])
  auto [a, b, c] = data::random_split(pairs(0, 11), {0.7, 0.2, 0.1});
  EXPECT_EQ((Numbers{a.size(), b.size(), c.size()}), (Numbers{8, 2, 1}));
  const auto all = pairs(0, 10);
  auto [first, second] = data::random_split(all, {0.8, 0.2}, {.seed = 5});
  EXPECT_EQ(first.indices(), data::random_split(all, {8, 2}, {.seed = 5})[0].indices());
  EXPECT_EQ(second.size(), 2);
  EXPECT_THROW(data::random_split(all, {0.8, 0.1}), Error);
  EXPECT_THROW(data::random_split(all, {1.5, -0.5}), Error);
  EXPECT_THROW(data::random_split(all, {std::nan(""), 1.0}), Error);
}

TEST(RandomSplit, TakesATemporaryOverAndRefusesOtherSizes) {
  auto [first, second] = data::random_split(pairs(0, 5), {2, 3});
  EXPECT_EQ(first.get(0)[0].item<int>() * 10, first.get(0)[1].item<int>());
  EXPECT_EQ(second.size(), 3);
  EXPECT_THROW(data::random_split(pairs(0, 5), {2, 2}), Error);
  EXPECT_THROW(data::random_split(pairs(0, 5), {6, -1}), Error);
  EXPECT_THROW(data::random_split(pairs(0, 5), {INT64_MAX, INT64_MAX, 7}), Error);
}

TEST(Concat, IsOneAfterTheOther) {
  const auto first = pairs(0, 3);
  const auto all = data::concat(first, pairs(3, 3), pairs(100, 102));
  EXPECT_EQ(all.size(), 5);
  EXPECT_EQ(all.batch(0, 5)[0].to_vector<int64_t>(), (Numbers{0, 1, 2, 100, 101}));
  EXPECT_FALSE(all.is_random());
  EXPECT_THROW(all.get(5), IndexError);
  EXPECT_THROW(all.get(-1), IndexError);
}

/// Example i is i + 1 numbers, and one label for each.
struct Sentences : data::Dataset {
  int64_t size() const override { return 4; }
  Example get(int64_t i) const override { return {ones({i + 1}), full({i + 1, 2}, i)}; }
};

TEST(Padded, StacksToTheLongest) {
  const auto padded = data::padded(Sentences(), {0, -100});
  const auto [words, labels] = padded.batch(1, 3);
  EXPECT_TRUE(equal(words, tensor({{1.0, 1.0, 0.0}, {1.0, 1.0, 1.0}})));
  EXPECT_EQ(labels.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(labels[0][2][1].item<int>(), -100);
  EXPECT_EQ(labels[1][2][1].item<int>(), 2);
  EXPECT_EQ(labels.dtype(), i64);
  data::DataLoader loader(padded, {.batch_size = 4, .workers = 2});
  for (const auto& [x, y] : loader) EXPECT_EQ(x.shape(), (Shape{4, 4}));
}

TEST(Padded, StaysPaddedInside) {
  const auto padded = data::padded(Sentences(), {0, -100});
  const auto mapped = data::map(padded, [](const Tensor& x) { return x * 2.0; });
  EXPECT_TRUE(equal(mapped.batch(1, 3)[0], tensor({{2.0, 2.0, 0.0}, {2.0, 2.0, 2.0}})));
  EXPECT_EQ(mapped.batch(1, 3)[1][0][2][1].item<int>(), -100);
  EXPECT_EQ(data::map(data::Subset(padded, {3, 0}), [](const Tensor& x) { return x; }).batch(0, 2)[0].shape(),
            (Shape{2, 4}));
  EXPECT_EQ(data::concat(padded, padded).batch(3, 6)[0].shape(), (Shape{3, 4}));
  EXPECT_EQ(data::concat(padded, Sentences()).batch(3, 6)[1][1][3][0].item<int>(), -100);
}

/// Batches that are no stacks.
struct Summed : data::DatasetOf<1> {
  int64_t size() const override { return 4; }
  Example get(int64_t i) const override { return {full({2}, i)}; }
  Example combine(std::vector<Example> examples) const override {
    return {DatasetOf<1>::combine(std::move(examples))[0].sum(0)};
  }
};

TEST(Combine, OfADatasetIsThatOfWhatIsMadeOfIt) {
  const Tensor six = tensor({6, 6});
  EXPECT_TRUE(equal(Summed().batch(0, 4)[0], six));
  EXPECT_TRUE(equal(data::map(Summed(), [](const Tensor& x) { return x; }).batch(0, 4)[0], six));
  EXPECT_TRUE(equal(data::concat(Summed(), Summed()).batch(0, 4)[0], six));
  EXPECT_TRUE(equal(data::Subset(Summed(), {3, 2, 1}).batch(0, 3)[0], six));
}

TEST(Padded, Errors) {
  EXPECT_EQ(error_of([] { data::pad_stack({}); }), "pad_stack(): there are no tensors");
  EXPECT_TRUE(equal(data::pad_stack({tensor({1}), tensor({1.5, 2.5})}), tensor({{1.0, 0.0}, {1.5, 2.5}})));
  EXPECT_EQ(error_of([] {
              data::pad_stack({ones({2}), ones({2, 2})});
            }),
            "pad_stack([2] f32, [2, 2] f32): [2] and [2, 2] have different numbers of axes");
  EXPECT_TRUE(equal(data::pad_stack({ones({0}), ones({1})}, 7), tensor({{7.0}, {1.0}})));
}

}  // namespace
}  // namespace weft
