// Datasets in memory, transforms, the digits that the program draws, and MNIST's files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "data/data.h"
#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

TEST(TensorDataset, RowsAndBatchesAreCopies) {
  const Tensor x = arange(12).view({4, 3}), y = arange(4);
  const data::TensorDataset dataset(x, y);
  EXPECT_EQ(dataset.size(), 4);
  auto [row, label] = dataset.get(2);
  EXPECT_EQ(row.to_vector<int>(), (std::vector<int>{6, 7, 8}));
  EXPECT_EQ(label.shape(), Shape{});
  EXPECT_EQ(label.item<int>(), 2);
  auto [rows, labels] = dataset.batch(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(labels.to_vector<int>(), (std::vector<int>{1, 2}));
  row.fill_(0);
  rows.fill_(0);
  EXPECT_EQ(x.sum().item<int>(), 66);
}

TEST(TensorDataset, TakesAnyLayout) {
  const data::TensorDataset dataset(arange(12).view({3, 4}).t());
  EXPECT_EQ(dataset.get(1)[0].to_vector<int>(), (std::vector<int>{1, 5, 9}));
}

TEST(TensorDataset, Errors) {
  EXPECT_EQ(error_of([] {
              data::TensorDataset(zeros({2, 3}), zeros({3}));
            }),
            "TensorDataset([2, 3] f32, [3] f32): [2, 3] and [3] have different numbers of rows");
  EXPECT_EQ(error_of<IndexError>([] { data::TensorDataset(zeros({2}), zeros({2})).column(5); }),
            "TensorDataset: column 5 of a dataset of 2 tensors");
  EXPECT_THROW(data::TensorDataset(zeros({2, 3}), zeros({3})), ShapeError);
  EXPECT_THROW(data::TensorDataset(tensor(1.0)), ShapeError);
  const data::TensorDataset dataset(zeros({4, 2}));
  for (const int64_t index : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN})
    EXPECT_THROW(dataset.get(index), IndexError);
  EXPECT_EQ(error_of([&] { dataset.get(4); }), "TensorDataset([4, 2] f32): example 4 of a dataset of 4");
  const std::vector<int64_t> repeated = {3, 0, 3}, wrong = {1, -1};
  EXPECT_TRUE(equal(dataset.collate(repeated, {})[0], index_select(dataset.column(0), 0, tensor(repeated))));
  EXPECT_EQ(error_of([&] { (void)dataset.collate(wrong, {}); }),
            "TensorDataset([4, 2] f32): example -1 of a dataset of 4");
  EXPECT_EQ(dataset.collate({}, {})[0].shape(), (Shape{0, 2}));
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{-1, 2}, {0, 5}, {2, 2}, {3, 1}, {0, INT64_MAX}})
    EXPECT_THROW(dataset.batch(begin, end), IndexError);
  const data::TensorDataset empty(zeros({0, 2}));
  EXPECT_THROW(empty.get(0), IndexError);
}

TEST(Transform, Normalize) {
  const Tensor x = tensor({1.0, 3.0});
  EXPECT_EQ((data::Normalize{1, 2}(x).to_vector<float>()), (std::vector<float>{0, 1}));
}

TEST(Transform, RandomShiftMovesAndFillsWithZeros) {
  const Tensor image = ones({1, 5, 5});
  bool moved = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Tensor shifted = data::RandomShift{2}(image, {seed, 0});
    EXPECT_EQ(shifted.shape(), image.shape());
    const float sum = shifted.sum().item<float>();
    EXPECT_TRUE(sum >= 9 && sum <= 25) << sum;
    moved |= sum < 25;
    EXPECT_TRUE(equal(shifted, data::RandomShift{2}(image, {seed, 0})));
  }
  EXPECT_TRUE(moved);
  EXPECT_TRUE(equal(data::RandomShift{0}(image, {1, 0}), image));
  EXPECT_THROW((data::RandomShift{1}(ones({3}), {})), ShapeError);
}

TEST(Transform, RandomFlip) {
  const Tensor row = tensor({{1.0, 2.0}});
  EXPECT_EQ((data::RandomFlip{1}(row, {}).to_vector<float>()), (std::vector<float>{2, 1}));
  EXPECT_EQ((data::RandomFlip{0}(row, {}).to_vector<float>()), (std::vector<float>{1, 2}));
}

TEST(Transform, ComposeGivesEachPartAKeyOfItsOwn) {
  std::vector<RandomKey> seen;
  const auto spy = [&](const Tensor& x, RandomKey key) { return seen.push_back(key), x + 1; };
  const data::Transform both = data::compose({spy, [](const Tensor& x) { return x * 2; }, spy});
  EXPECT_TRUE(both.is_random());
  EXPECT_EQ(both(tensor({1}), {7, 0}).item<int>(), 5);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_FALSE(data::compose({data::Normalize{0, 1}}).is_random());
}

TEST(Map, ChangesTheChosenTensor) {
  const data::TensorDataset dataset(arange(3), arange(3));
  const auto first = data::map(dataset, [](const Tensor& x) { return x + 10; });
  const auto second = data::map<1>(dataset, [](const Tensor& x) { return x + 10; });
  EXPECT_EQ(first.get(1)[0].item<int>(), 11);
  EXPECT_EQ(first.get(1)[1].item<int>(), 1);
  EXPECT_EQ(second.get(1)[0].item<int>(), 1);
  EXPECT_EQ(second.get(1)[1].item<int>(), 11);
  EXPECT_EQ(first.batch(0, 3)[0].to_vector<int>(), (std::vector<int>{10, 11, 12}));
}

TEST(Transform, RefusesOptionsOutOfRange) {
  const Tensor image = ones({1, 4, 4});
  EXPECT_THROW((data::Normalize{.mean = 0, .deviation = 0}(image)), Error);
  EXPECT_THROW((data::RandomShift{-1}(image, {})), Error);
  EXPECT_THROW((data::RandomFlip{1.5}(image, {})), Error);
  EXPECT_THROW((data::RandomFlip{-0.5}(image, {})), Error);
  EXPECT_THROW(data::shuffled_order({}, -1), Error);
}

TEST(SplitKey, StreamsDiffer) {
  const RandomKey key = {5, 3};
  EXPECT_NE(data::split_key(key, 0), data::split_key(key, 1));
  EXPECT_NE(data::split_key(key, 0), data::split_key({5, 4}, 0));
  EXPECT_NE(data::split_key(key, 0), data::split_key({6, 3}, 0));
  EXPECT_NE(data::split_key(key, 1), data::split_key(key, uint64_t{1} << 32));
  EXPECT_EQ(data::split_key(key, 9), data::split_key(key, 9));
}

TEST(SyntheticDigits, ShapesRangesAndLabels) {
  const auto digits = data::synthetic_digits({.count = 500, .seed = 4});
  const Tensor images = digits.column(0), labels = digits.column(1);
  EXPECT_EQ(images.shape(), (Shape{500, 1, 28, 28}));
  EXPECT_EQ(images.dtype(), f32);
  EXPECT_EQ(labels.dtype(), i64);
  EXPECT_GE(images.min().item<float>(), 0);
  EXPECT_LE(images.max().item<float>(), 1);
  const std::vector<int64_t> all = labels.to_vector<int64_t>();
  for (size_t i = 0; i < all.size(); i += 10) EXPECT_EQ(std::set<int64_t>(&all[i], &all[i] + 10).size(), 10u);
  EXPECT_FALSE(std::equal(&all[0], &all[10], &all[10]));
  // Every image has ink, and most of it is background.
  const std::vector<float> ink = images.mean({1, 2, 3}).to_vector<float>();
  for (const float mean : ink) EXPECT_TRUE(mean > 0.01f && mean < 0.4f) << mean;
}

TEST(SyntheticDigits, ExamplesDependOnSeedAndNumberAlone) {
  const auto few = data::synthetic_digits({.count = 10, .seed = 4}),
             many = data::synthetic_digits({.count = 50, .seed = 4});
  EXPECT_TRUE(equal(few.column(0), many.batch(0, 10)[0]));
  EXPECT_FALSE(equal(few.column(0), data::synthetic_digits({.count = 10, .seed = 5}).column(0)));
  const int threads = num_threads();
  set_num_threads(threads == 1 ? 3 : 1);
  EXPECT_TRUE(equal(few.column(0), data::synthetic_digits({.count = 10, .seed = 4}).column(0)));
  set_num_threads(threads);
  manual_seed(6);
  data::synthetic_digits({.count = 3});
  EXPECT_EQ(random_state(), (RandomState{6, 0}));
}

TEST(SyntheticDigits, WithoutDistortionADigitLooksAlways) {
  const auto digits = data::synthetic_digits({.count = 60, .distortion = 0});
  std::vector<Tensor> glyphs(10);
  for (int64_t i = 0; i < digits.size(); ++i) {
    auto [image, label] = digits.get(i);
    Tensor& glyph = glyphs.at(static_cast<size_t>(label.item<int64_t>()));
    if (glyph.defined()) {
      EXPECT_TRUE(equal(glyph, image));
    }
    for (const Tensor& other : glyphs) {
      if (!other.defined() || other.is_same(glyph)) continue;
      EXPECT_FALSE(equal(other, image));
    }
    glyph = image;
  }
}

TEST(SyntheticDigits, Errors) {
  EXPECT_EQ(error_of([] { data::synthetic_digits({.count = -1}); }), "synthetic_digits(): a count of -1");
  EXPECT_THROW(data::synthetic_digits({.distortion = -1}), Error);
  EXPECT_THROW(data::synthetic_digits({.distortion = 3}), Error);
  EXPECT_EQ(data::synthetic_digits({.count = 0}).size(), 0);
}

TEST(Mnist, ReadsItsFourFiles) {
  const char* variable = std::getenv("WEFT_MNIST_DIR");
  std::filesystem::path folder = variable != nullptr ? variable : "";
  if (variable == nullptr) {
    // Beside the source tree, for those who keep it there.
    for (const char* place : {"../shared/data/mnist10k", "../../shared/data/mnist10k"})
      if (std::filesystem::exists(place)) folder = place;
  }
  if (folder.empty() || !std::filesystem::exists(folder))
    GTEST_SKIP() << "MNIST is not here: set WEFT_MNIST_DIR to the folder with its four files";
  for (const data::Split split : {data::Split::train, data::Split::test}) {
    const auto digits = data::mnist(folder.string(), split);
    EXPECT_GT(digits.size(), 500);
    auto [image, label] = digits.get(0);
    EXPECT_EQ(image.shape(), (Shape{1, 28, 28}));
    EXPECT_EQ(label.dtype(), i64);
    const Tensor images = digits.column(0);
    EXPECT_EQ(images.max().item<float>(), 1);
    EXPECT_EQ(images.min().item<float>(), 0);
    EXPECT_NEAR(images.mean().item<float>(), 0.1307, 0.01);
  }
}

class MnistFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "weft_mnist_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string refusal() {
    try {
      data::mnist(folder_.string(), data::Split::test);
    } catch (const IoError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  std::filesystem::path folder_;
};

TEST_F(MnistFiles, ChecksWhatTheyHold) {
  const std::string images = "t10k-images-idx3-ubyte", labels = "t10k-labels-idx1-ubyte";
  const std::string two_images("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\x00\xff", 18);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, images, refusal());
  put(images, two_images);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, labels, refusal());
  put(labels, std::string("\0\0\x08\x01\0\0\0\x01\x03", 9));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "not 2 bytes", refusal());
  put(labels, std::string("\0\0\x08\x01\0\0\0\x02\x03\x0a", 10));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "label 10", refusal());
  put(labels, std::string("\0\0\x08\x01\0\0\0\x02\x03\x09", 10));
  put(images, std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x01\x00\xff", 14));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "not bytes of (count, height, width)", refusal());
  put(images, two_images);
  const auto digits = data::mnist(folder_.string(), data::Split::test);
  EXPECT_EQ(digits.column(0).to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(digits.column(1).to_vector<int>(), (std::vector<int>{3, 9}));
}

}  // namespace
}  // namespace weft
