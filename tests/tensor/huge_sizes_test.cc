// Sizes that no machine has: an Error that names them, whichever way they are asked for; never a crash or a read
// outside.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string_view>

#include "tensor/adjoints/index.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tests/error_of.h"

namespace weft {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(HugeSizes, AreRefusedByEveryConstructor) {
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"empty", [] { empty({kHuge + 2}); }},
      {"zeros", [] { zeros({kHuge}); }},
      {"full",
       [] {
         full({kHuge, 2}, 1.0);
       }},
      {"linspace", [] { linspace(0, 1, kHuge); }},
      {"eye", [] { eye(int64_t{1} << 32); }},
      {"rand", [] { rand({kHuge}); }},
      {"randperm", [] { randperm(kHuge); }},
      {"arange", [] { arange(int64_t{1} << 60); }},
      {"one_hot", [] { one_hot(tensor({1}), kHuge); }},
      {"one_hot of the largest integer", [] { one_hot(tensor({INT64_MAX})); }},
      {"scatter_add", [] { adjoint::scatter_add(ones({1}), 0, tensor({0}), {kHuge}); }},
      {"index_add", [] { adjoint::index_add(ones({1}), 0, tensor({0}), {kHuge}); }},
      {"cat",
       [] {
         const Tensor wide = ones({1}).expand({kHuge});
         cat({wide, wide});
       }},
  };
  for (const auto& [name, call] : calls) EXPECT_NE(error_of(call), "") << name;
}

TEST(HugeSizes, AreRefusedWhereAnExpandedViewIsCopied) {
  const Tensor wide = ones({1}).expand({kHuge});
  EXPECT_NE(error_of([&] { wide.clone(); }), "");
  EXPECT_NE(error_of([&] { wide + 1.0; }), "");
  EXPECT_NE(error_of([&] { wide.to(f64); }), "");
  EXPECT_NE(error_of([&] { wide.contiguous(); }), "");
  const char* const text = "to_vector([4611686018427387904] f32): out of memory: a list of 4611686018427387904 values";
  EXPECT_EQ(error_of<MemoryError>([&] { wide.to_vector<float>(); }), text);
#ifndef __SANITIZE_ADDRESS__  // whose operator new ends the process where it should throw
  EXPECT_EQ(error_of<MemoryError>([&] { wide.to_vector<bool>(); }), text);
#endif
  EXPECT_NE(error_of([&] { ones({2}).pad({{0, kHuge}}).clone(); }), "");
  EXPECT_NE(error_of([&] { conv2d(ones({1, 1, 3, 3}), ones({1, 1, 3, 3}), {}, {.padding = int64_t{1} << 30}); }), "");
}

#ifndef __SANITIZE_ADDRESS__  // which takes most of the address space
/// Ends with 0 if f() throws a MemoryError where so many MB of address space are left.
template <class F> [[noreturn]] void run_in_little_memory(int megabytes, const F& f) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (static_cast<rlim_t>(megabytes) << 20);
  const rlimit limit = {most, most};
  ::setrlimit(RLIMIT_AS, &limit);
  try {
    f();
  } catch (const MemoryError& error) {
    std::_Exit(std::string_view(error.what()).find("out of memory") != std::string_view::npos ? 0 : 2);
  }
  std::_Exit(1);
}

TEST(HugeSizes, OfWorkingMemoryAreAMemoryErrorToo) {
  const Tensor signal = zeros({1, 1, 1 << 24});
  EXPECT_EXIT(run_in_little_memory(32, [&] { adaptive_max_pool1d(signal, 1 << 22); }), ::testing::ExitedWithCode(0),
              "");
}

// (oneDNN, where the code of a convolution finds no room, uses a null pointer.)
TEST(HugeSizes, SoIsTheCodeOfAConvolution) {
  const Tensor image = ones({1, 48, 11, 13}), weight = ones({40, 48, 2, 3});
  // 4 MB for the result stay in the cache, and no more, which could be given back.
  empty_cache();
  empty({1 << 20});
  EXPECT_EXIT(run_in_little_memory(1, [&] { conv2d(image, weight, {}, {.stride = 2}); }), ::testing::ExitedWithCode(0),
              "");
}
#endif

TEST(HugeSizes, SplitAnAxisOfAnyLength) {
  const Tensor wide = ones({1}).expand({INT64_MAX});
  EXPECT_EQ(split(wide, INT64_MAX - 1)[1].shape(), Shape({1}));
  EXPECT_EQ(chunk(wide, 2)[1].shape(), Shape({INT64_MAX / 2}));
}

// (Its numbers of pixels do not fit the 32 bits that points of few channels are sampled with.)
TEST(HugeSizes, OfAnImageAreRefusedWhereItIsCopied) {
  const Tensor grid = tensor({0.0, 0.5, 0.1, -0.9}, f32).view({1, 1, 2, 2});
  const Tensor image = ones({1, 1, 1, 1}).expand({1, 1, 4, int64_t{1} << 40});
  EXPECT_THROW(grid_sample(image, grid), MemoryError);
}

// The number of the last pixel is no float: the nearest one is that of what lies behind it.
TEST(HugeSizes, OfAnImageEndWhereItDoes) {
  constexpr int64_t kWidth = (int64_t{1} << 24) + 4;
  const Tensor line = ones({kWidth + 1});
  line[kWidth] = 7;
  const Tensor image = line.slice(0, 0, kWidth).view({1, 1, 1, kWidth});
  const Tensor grid = tensor({1.0, 0.0}, f32).view({1, 1, 1, 2});
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic})
    EXPECT_EQ(grid_sample(image, grid, {mode, GridPadding::border, true}).item<float>(), 1.0f) << name_of(mode);
}

TEST(HugeSizes, AreRefusedBeforeAnythingIsCounted) {
  const Tensor eight = ones({1, 1, 1, 1, 1, 1, 1, 1}), line = ones({1, 1, 4});
  const int64_t most = INT64_MAX, large = int64_t{1} << 60;
  const IntList counts = IntList::filled(8, 1);
  IntList one_axis = counts;
  one_axis[3] = large;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"adaptive_max_pool1d", [&] { adaptive_max_pool1d(line, large); }},
      {"adaptive_max_pool1d_with_indices", [&] { adaptive_max_pool1d_with_indices(line, large); }},
      {"hann_window", [&] { hann_window(2 * large); }},
      {"repeat_interleave", [&] { repeat_interleave(ones({2}), 2 * large); }},
      {"repeat_interleave of counts",
       [&] {
         repeat_interleave(ones({2}), tensor({2 * large, int64_t{1}}));
       }},
      {"repeat_interleave of the largest counts",
       [&] {
         repeat_interleave(ones({2}), tensor({most, most}));
       }},
      {"repeat of eight axes", [&] { repeat(eight, one_axis); }},
      {"repeat of eight large axes", [&] { repeat(eight, IntList::filled(8, large)); }},
      {"histogram", [&] { histogram(ones({2}), most); }},
      {"histc", [&] { histc(ones({2}), most); }},
      {"tensor_split", [&] { tensor_split(ones({2}), most); }},
      {"chunk", [&] { chunk(zeros({0}), most); }},
      {"vander", [&] { vander(ones({3}), most); }},
      {"polygamma", [&] { polygamma(most, ones({3})); }},
  };
  for (const auto& [name, call] : calls) EXPECT_NE(error_of(call), "") << name;
  EXPECT_EQ(chunk(ones({2}), most).size(), 2u);
  // What is left out of a triangle takes no memory.
  constexpr int64_t kRows = 1'000'000'000;
  EXPECT_EQ(tril_indices(kRows, 1, -2147483648).shape(), Shape({2, 0}));
  EXPECT_EQ(tril_indices(kRows, kRows, 1 - kRows).to_vector<int64_t>(), (std::vector<int64_t>{kRows - 1, 0}));
  EXPECT_EQ(triu_indices(kRows, kRows, kRows - 1).to_vector<int64_t>(), (std::vector<int64_t>{0, kRows - 1}));
  EXPECT_EQ(triu_indices(kRows, 2, INT64_MAX).shape(), Shape({2, 0}));
  EXPECT_NE(error_of([] { tril_indices(-1, 2); }), "");
  // Of nothing there is as much as one asks for.
  for (const Shape& nothing : {Shape{0, 3, 4}, Shape{1, 0, 4}})
    EXPECT_EQ(adaptive_max_pool1d_with_indices(zeros(nothing), large).indices.numel(), 0) << nothing;
}

TEST(HugeSizes, HaveNoNumberOfBytes) {
  EXPECT_THROW((void)ones({1}).expand({int64_t{1} << 62}).nbytes(), ShapeError);
  EXPECT_EQ(ones({1}).expand({int64_t{1} << 60}).nbytes(), int64_t{1} << 62);
}

TEST(HugeSizes, NameTheShapeAndTheBytes) {
  EXPECT_EQ(error_of([] { zeros({kHuge}); }),
            "zeros(): the bytes of a result of shape [4611686018427387904] f32 overflow 64 bits");
  const std::string text = error_of([] { zeros({int64_t{1} << 40}); });
  EXPECT_EQ(text.find("zeros(): out of memory: 4.0 TB asked for, "), 0u) << text;
  EXPECT_NE(text.find("a result of shape [1099511627776] f32 was to be stored"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft
