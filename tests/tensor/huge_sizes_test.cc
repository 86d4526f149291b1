// Sizes that no machine has: an Error that names them, whichever way they are asked for; never a crash or a read
// outside.
#include <gtest/gtest.h>

#include <functional>

#include "tensor/adjoints/index.h"
#include "tensor/functions_all.h"
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
  EXPECT_NE(error_of([&] { wide.t(); }), "");
  EXPECT_NE(error_of([&] { ones({2}).pad({{0, kHuge}}).clone(); }), "");
  EXPECT_NE(error_of([&] { conv2d(ones({1, 1, 3, 3}), ones({1, 1, 3, 3}), {}, {.padding = int64_t{1} << 30}); }), "");
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
