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
#include "data/zip.h"
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

Numbers counts_of(const data::Subset<2>& part, const Tensor& labels, int64_t classes) {
  return bincount(index_select(labels, 0, tensor(part.indices())), {}, classes).to_vector<int64_t>();
}

Numbers sorted(Numbers list) {
  std::sort(list.begin(), list.end());
  return list;
}

TEST(StratifiedSplit, GivesEachPartItsShareOfEachClass) {
  const auto all = pairs(0, 40);
  const Tensor labels = where(arange(40) % 4 == 0, 7, arange(40) % 2);  // 10 of 0, 20 of 1, 10 of 7
  const auto [train, test, none] = data::stratified_split(all, labels, {0.7, 0.3, 0.0}, {.seed = 3});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(counts_of(train, labels, 8), (Numbers{7, 14, 0, 0, 0, 0, 0, 7}));
  EXPECT_EQ(counts_of(test, labels, 8), (Numbers{3, 6, 0, 0, 0, 0, 0, 3}));
  Numbers seen = train.indices();
  EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  seen.insert(seen.end(), test.indices().begin(), test.indices().end());
  EXPECT_EQ(sorted(seen), arange(40).to_vector<int64_t>());
  EXPECT_EQ(data::stratified_split(all, labels, {0.7, 0.3}, {.seed = 3})[1].indices(), test.indices());
  EXPECT_NE(data::stratified_split(all, labels, {0.7, 0.3}, {.seed = 4})[1].indices(), test.indices());
}

TEST(StratifiedSplit, HasPartsOfTheSizesOfARandomSplit) {
  for (const int64_t n : {0, 1, 3, 17, 50}) {
    const auto all = pairs(0, n);
    const auto parts = data::stratified_split(all, floor_divide(arange(n), 6), {0.5, 0.2, 0.3}, {.seed = 1});
    const auto expected = data::random_split(all, {0.5, 0.2, 0.3}, {.seed = 1});
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(parts[i].size(), expected[i].size()) << n;
  }
}

TEST(StratifiedSplit, Errors) {
  const auto all = pairs(0, 4);
  EXPECT_EQ(error_of<ShapeError>([&] {
              (void)data::stratified_split(all, arange(3), {0.5, 0.5});
            }),
            "stratified_split([3] i64): 3 labels for 4 examples");
  EXPECT_EQ(error_of<ShapeError>([&] {
              (void)data::stratified_split(all, zeros({4, 1}, i64), {0.5, 0.5});
            }),
            "stratified_split([4, 1] i64): labels are a list, one for each example, not [4, 1]");
  EXPECT_EQ(error_of<DtypeError>([&] {
              (void)data::stratified_split(all, zeros({4}), {0.5, 0.5});
            }),
            "stratified_split([4] f32): labels are classes, integers, not f32");
  EXPECT_EQ(error_of([&] {
              (void)data::stratified_split(all, zeros({4}, i64), {0.5, 0.4});
            }),
            "stratified_split: the fractions must add up to 1, not 0.9");
}

// sklearn.model_selection.KFold(3)
TEST(KFold, DividesIntoRanges) {
  const auto all = pairs(0, 7);
  const auto folds = data::k_fold(all, 3);
  ASSERT_EQ(folds.size(), 3u);
  const std::vector<Numbers> tests = {{0, 1, 2}, {3, 4}, {5, 6}};
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(folds[i].test.indices(), tests[i]);
  EXPECT_EQ(folds[1].train.indices(), (Numbers{0, 1, 2, 5, 6}));
  EXPECT_EQ(folds[1].train.get(3)[1].item<int>(), 50);
}

TEST(KFold, ShufflesAndStratifies) {
  const auto all = pairs(0, 30);
  const Tensor labels = floor_divide(arange(30), 12);  // 12, 12 and 6
  const auto folds = data::k_fold(all, 6, {.shuffle = true, .labels = labels, .seed = 2});
  Numbers seen;
  for (const auto& [train, test] : folds) {
    EXPECT_EQ(counts_of(test, labels, 3), (Numbers{2, 2, 1}));
    EXPECT_EQ(counts_of(train, labels, 3), (Numbers{10, 10, 5}));
    seen.insert(seen.end(), test.indices().begin(), test.indices().end());
  }
  EXPECT_EQ(sorted(seen), arange(30).to_vector<int64_t>());
  const auto in_order = data::k_fold(all, 6, {.labels = labels});
  EXPECT_EQ(in_order[0].test.indices(), sorted(in_order[0].test.indices()));
  EXPECT_NE(in_order[0].test.indices(), folds[0].test.indices());
  EXPECT_NE(data::k_fold(all, 6, {.shuffle = true, .seed = 1})[0].test.indices(), (Numbers{0, 1, 2, 3, 4}));
}

TEST(KFold, Errors) {
  const auto all = pairs(0, 4);
  EXPECT_EQ(error_of([&] { (void)data::k_fold(all, 5); }),
            "k_fold: the number of folds must be in [2, 4], the examples of the dataset, not 5");
  EXPECT_EQ(error_of([&] { (void)data::k_fold(all, 1); }),
            "k_fold: the number of folds must be in [2, 4], the examples of the dataset, not 1");
  EXPECT_EQ(error_of([&] { (void)data::k_fold(all, 2, {.seed = 1}); }),
            "k_fold: a seed or generator is for shuffle, which is not set");
}

TEST(Zip, PutsTensorsSideBySide) {
  const auto all = data::zip(pairs(0, 5), data::TensorDataset(arange(5) * 100));
  static_assert(decltype(all)::kTensors == 3);
  EXPECT_EQ(all.size(), 5);
  EXPECT_EQ(all.get(3)[1].item<int>(), 30);
  EXPECT_EQ(all.get(3)[2].item<int>(), 300);
  const auto [x, y, z] = all.batch(1, 3);
  EXPECT_EQ(y.to_vector<int64_t>(), (Numbers{10, 20}));
  EXPECT_EQ(z.to_vector<int64_t>(), (Numbers{100, 200}));
  EXPECT_FALSE(all.is_random());
  EXPECT_EQ(error_of([] { (void)data::zip(pairs(0, 5), pairs(0, 4)); }), "zip: the datasets have 5 and 4 examples");
}

TEST(Zip, KeepsCombinationsAndRandomTransforms) {
  const auto noise = [](const Tensor& x, RandomKey key) {
    return x + static_cast<int64_t>(random_bits(key, 0) % 1000);
  };
  const data::TensorDataset numbers(arange(4));
  const auto noisy = data::zip(data::map(numbers, noise), numbers, data::map(numbers, noise));
  EXPECT_TRUE(noisy.is_random());
  const RandomKey key = {5, 0};
  const auto one = noisy.sample(2, key);
  EXPECT_EQ(one[1].item<int>(), 2);
  EXPECT_NE(one[0].item<int>(), one[2].item<int>()) << "each has numbers of its own";
  const int64_t index = 2;
  const auto batch = noisy.collate({&index, 1}, {&key, 1});
  for (size_t n = 0; n < 3; ++n) EXPECT_EQ(batch[n].item<int>(), one[n].item<int>());
  struct Lists : data::DatasetOf<1> {
    int64_t size() const override { return 4; }
    Example get(int64_t i) const override { return {arange(i)}; }
  };
  const auto lists = data::zip(numbers, data::padded(Lists(), {-1}));
  EXPECT_EQ(lists.batch(1, 3)[1].to_vector<int64_t>(), (Numbers{0, -1, 0, 1}));
  std::vector<std::array<Tensor, 2>> examples = {lists.get(1), lists.get(2)};
  EXPECT_EQ(lists.combine(examples)[1].shape(), Shape({2, 2}));
}

}  // namespace
}  // namespace weft
