// Random numbers: Philox against its published answers, distributions, and the process's generator.
#include "tensor/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/core/random_normal.h"
#include "tests/reference/random_normal.h"

namespace weft {
namespace {

using testing::reference::normal_block;
using testing::reference::normal_element;
using Words = std::array<uint32_t, 4>;

// The vectors `philox4x32 10` of Random123's tests/kat_vectors.
TEST(Philox, KnownAnswers) {
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBlock, UsesAllBitsOfSeedAndOffset) {
  const Words plain = random_block({0, 0}, 0);
  EXPECT_EQ(plain, philox({0, 0, 0, 0}, {0, 0}));
  EXPECT_EQ(random_block({0x299f31d0a4093822, 0}, 0), philox({0, 0, 0, 0}, {0xa4093822, 0x299f31d0}));
  EXPECT_EQ(random_block({0, 0x85a308d3243f6a88}, 0), philox({0x243f6a88, 0x85a308d3, 0, 0}, {0, 0}));
  EXPECT_EQ(random_block({7, 0xffffffff}, 1), random_block({7, 0x100000000}, 0));
}

TEST(RandomElement, IsPartOfItsBlock) {
  const RandomKey key{3, 5};
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(random_bits(key, i), random_block(key, i / 4)[i % 4]);
    EXPECT_EQ(uniform_element<float>(key, i), uniform_block(key, i / 4)[i % 4]);
    EXPECT_EQ(normal_element<float>(key, i), normal_block(key, i / 4)[i % 4]);
    EXPECT_EQ(uniform_element<double>(key, i), uniform_block_f64(key, i / 2)[i % 2]);
    EXPECT_EQ(normal_element<double>(key, i), normal_block_f64(key, i / 2)[i % 2]);
  }
}

TEST(ToUniform, LiesInTheHalfOpenIntervalAtBothEnds) {
  EXPECT_EQ(to_uniform(0), 0.0f);
  EXPECT_EQ(to_uniform(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(to_uniform(0x80000000), 0.5f);
  EXPECT_EQ(to_uniform(0, 0), 0.0);
  EXPECT_EQ(to_uniform(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
  EXPECT_EQ(to_uniform(0, 0x80000000), 0.5);
}

/// Mean and central moments 2 to 4.
template <class F> std::array<double, 4> moments(int count, F&& draw) {
  double mean = 0;
  for (int i = 0; i < count; ++i) mean += draw(i) / count;
  std::array<double, 4> result{mean, 0, 0, 0};
  for (int i = 0; i < count; ++i)
    for (int power = 2; power <= 4; ++power) result[power - 1] += std::pow(draw(i) - mean, power) / count;
  return result;
}

// The bounds are five standard errors of the estimate at this count; the streams are fixed, so the test cannot flicker.
template <class T> void check_moments() {
  constexpr int kCount = 400'000;
  const RandomKey key{2024, 0};
  const auto uniform =
      moments(kCount, [&](int i) -> double { return uniform_element<T>(key, static_cast<uint64_t>(i)); });
  EXPECT_NEAR(uniform[0], 0.5, 5 * 0.2887 / std::sqrt(kCount));
  EXPECT_NEAR(uniform[1], 1.0 / 12, 5 * 0.0745 / std::sqrt(kCount));
  EXPECT_NEAR(uniform[3], 1.0 / 80, 5 * 0.0167 / std::sqrt(kCount));
  const auto normal =
      moments(kCount, [&](int i) -> double { return normal_element<T>(key, static_cast<uint64_t>(i)); });
  EXPECT_NEAR(normal[0], 0, 5 / std::sqrt(kCount));
  EXPECT_NEAR(normal[1], 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(normal[2], 0, 5 * std::sqrt(15.0 / kCount));
  EXPECT_NEAR(normal[3], 3, 5 * std::sqrt(96.0 / kCount));
}
TEST(Distributions, MomentsInF32) { check_moments<float>(); }
TEST(Distributions, MomentsInF64) { check_moments<double>(); }

/// The largest distance between the empirical distribution and `cumulative` (Kolmogorov and Smirnov).
template <class F> double distance(std::vector<double> draws, F&& cumulative) {
  std::sort(draws.begin(), draws.end());
  double largest = 0;
  const auto count = static_cast<double>(draws.size());
  for (size_t i = 0; i < draws.size(); ++i) {
    const double expected = cumulative(draws[i]), at = static_cast<double>(i);
    largest = std::max({largest, expected - at / count, (at + 1) / count - expected});
  }
  return largest * std::sqrt(count);
}

TEST(Distributions, PassKolmogorovSmirnov) {
  const RandomKey key{99, 1'000'000};
  std::vector<double> uniform, normal, normal_f64;
  for (uint64_t i = 0; i < 100'000; ++i) {
    uniform.push_back(uniform_element<float>(key, i));
    normal.push_back(normal_element<float>(key, i));
    normal_f64.push_back(normal_element<double>(key, i));
  }
  const auto gauss = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  constexpr double kBound = 1.95;  // exceeded once in a thousand streams
  EXPECT_LT(distance(uniform, [](double x) { return x; }), kBound);
  EXPECT_LT(distance(normal, gauss), kBound);
  EXPECT_LT(distance(normal_f64, gauss), kBound);
}

TEST(Distributions, NormalsStayFiniteWhereTheUniformIsZero) {
  const auto smallest = box_muller(0.5f * 0x1p-32f, 0.0f);
  EXPECT_NEAR(smallest[0], 6.76f, 0.01f);
  EXPECT_NEAR(box_muller(0x1p-54, 0.0)[0], 8.65, 0.01);
  EXPECT_EQ(box_muller(1.0f, 0.25f)[0], 0.0f);
}

class Generator : public ::testing::Test {
  const RandomState before_ = random_state();

 protected:
  void TearDown() override { set_random_state(before_); }
};

TEST_F(Generator, SeedDecidesAll) {
  manual_seed(7);
  const RandomKey first = next_random_key(10);
  const RandomKey second = next_random_key(1);
  EXPECT_EQ(first, (RandomKey{7, 0}));
  manual_seed(8);
  EXPECT_EQ(next_random_key(1), (RandomKey{8, 0}));
  manual_seed(7);
  EXPECT_EQ(next_random_key(10), first);
  EXPECT_EQ(next_random_key(1), second);
}

TEST_F(Generator, StreamsShareNoBlock) {
  manual_seed(1);
  for (const int64_t count : {0, 1, 2, 3, 4, 5, 1000}) {
    const RandomKey key = next_random_key(count);
    const uint64_t last_block = count == 0 ? key.offset : key.offset + static_cast<uint64_t>(count - 1) / 2;
    EXPECT_GE(random_state().offset + (count == 0), last_block + 1) << count;
  }
}

TEST_F(Generator, StateIsRestored) {
  manual_seed(3);
  next_random_key(100);
  const RandomState kept = random_state();
  const RandomKey expected = next_random_key(5);
  manual_seed(4);
  set_random_state(kept);
  EXPECT_EQ(next_random_key(5), expected);
}

TEST_F(Generator, RefusesNegativeCounts) {
  const RandomState before = random_state();
  try {
    next_random_key(-1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot draw -1 random numbers");
  }
  EXPECT_EQ(random_state(), before);
}

TEST_F(Generator, ThreadsNeverShareAKey) {
  manual_seed(0);
  std::vector<std::vector<uint64_t>> offsets(4);
  std::vector<std::thread> threads;
  for (auto& mine : offsets)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 2000; ++i) mine.push_back(next_random_key(3).offset);
    });
  for (auto& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& mine : offsets) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 8000u);
  EXPECT_EQ(random_state().offset, 16000u);
}

}  // namespace
}  // namespace weft
