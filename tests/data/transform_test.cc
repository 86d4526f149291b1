// Transforms of images: sizes, values as PyTorch's, and errors.
#include "data/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

TEST(Transform, NormalizePerChannel) {
  const data::Normalize normalize{{0.5, 1.0}, {0.5, 2.0}};
  EXPECT_TRUE(equal(normalize(tensor({{{1.0, 0.0}}, {{3.0, 1.0}}})), tensor({{{1.0, -1.0}}, {{1.0, 0.0}}})));
  EXPECT_THROW(normalize(ones({3, 2, 2})), ShapeError);
  EXPECT_THROW((data::Normalize{0, {1.0, 0.0}}(ones({2, 1, 1}))), Error);
  EXPECT_EQ(data::Normalize{}(ones({2}, f64)).dtype(), f64);
}

TEST(Transform, CenterCrop) {
  const Tensor image = arange(20).reshape({1, 4, 5});
  EXPECT_TRUE(equal(data::CenterCrop{2, 3}(image), tensor({{{6, 7, 8}, {11, 12, 13}}})));
  // Where torchvision's begins for 1 to 8 pixels more: int(round(rest / 2.0)).
  const int64_t begins[] = {0, 1, 2, 2, 2, 3, 4, 4};
  for (int64_t rest = 1; rest <= 8; ++rest) {
    EXPECT_EQ((data::CenterCrop{1, 1}(arange(rest + 1).view({1, rest + 1})).item<int64_t>()), begins[rest - 1]) << rest;
    EXPECT_EQ((data::CenterCrop{1, 1}(arange(rest + 1).view({rest + 1, 1})).item<int64_t>()), begins[rest - 1]) << rest;
  }
  EXPECT_THROW((data::CenterCrop{5, 1}(image)), ShapeError);
  EXPECT_THROW((data::CenterCrop{}(image)), Error);
}

TEST(Transform, RandomCropTakesEveryPlace) {
  const Tensor image = arange(12).reshape({3, 4});
  std::vector<bool> corner(12);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Tensor crop = data::RandomCrop{.height = 2, .width = 2}(image, {seed, 0});
    const int64_t first = crop[0][0].item<int64_t>();
    EXPECT_TRUE(equal(crop, tensor({{first, first + 1}, {first + 4, first + 5}})));
    corner[static_cast<size_t>(first)] = true;
  }
  for (const int64_t place : {0, 1, 2, 4, 5, 6}) EXPECT_TRUE(corner[static_cast<size_t>(place)]);
  EXPECT_EQ((data::RandomCrop{3, 4, 2}(image, {})).shape(), (Shape{3, 4}));
  EXPECT_THROW((data::RandomCrop{4, 4}(image, {})), ShapeError);
  EXPECT_THROW((data::RandomCrop{1, 1, -1}(image, {})), Error);
  EXPECT_THROW((data::RandomCrop{1, 1, INT64_MAX}(image, {})), Error);
  EXPECT_THROW((data::RandomCrop{1, 1, INT64_MAX / 2}(image, {})), Error);
  EXPECT_THROW((data::RandomCrop{1, 1}(ones({3}), {})), ShapeError);
}

// torch.nn.functional.interpolate(x, size, mode="bilinear")
TEST(Transform, ResizeAsPyTorch) {
  const Tensor image = tensor({{{1.0, 2.0}, {3.0, 4.0}}});
  EXPECT_TRUE(allclose(
      data::Resize{4, 4}(image),
      tensor({{{1.0, 1.25, 1.75, 2.0}, {1.5, 1.75, 2.25, 2.5}, {2.5, 2.75, 3.25, 3.5}, {3.0, 3.25, 3.75, 4.0}}})));
  EXPECT_TRUE(allclose(data::Resize{1, 2}(arange(6).reshape({2, 3})), tensor({{1.75, 3.25}})));
  EXPECT_TRUE(equal(data::Resize{2, 2}(image), image));
  EXPECT_THROW((data::Resize{0, 2}(image)), Error);
  EXPECT_THROW((data::Resize{2, 2}(ones({1, 0, 2}))), ShapeError);
  EXPECT_EQ((data::Resize{2, 2}(zeros({0, 4, 4}))).shape(), (Shape{0, 2, 2}));
  EXPECT_EQ((data::Resize{2, 2}(zeros({2, 3, 4, 4}, u8))).shape(), (Shape{2, 3, 2, 2}));
  const std::string text = error_of<MemoryError>([&] { data::Resize{int64_t{1} << 45, 2}(image); });
  EXPECT_EQ(text.find("Resize([1, 2, 2] f32): out of memory"), 0u) << text;
}

// As a decoder makes them: height, width, channels in memory.
TEST(Transform, PartsOfPermutedImagesAreRowMajor) {
  const Tensor image = rand({4, 5, 3}).permute({2, 0, 1});
  for (const data::Transform& transform :
       {data::Transform(data::Resize{2, 3}), data::Transform(data::RandomRotation{30}),
        data::Transform(data::CenterCrop{2, 2}), data::Transform(data::RandomCrop{4, 4})}) {
    const Tensor out = transform(image, {1, 2});
    EXPECT_TRUE(out.is_contiguous());
    EXPECT_TRUE(allclose(out, transform(image.contiguous(), {1, 2})));
  }
}

TEST(Transform, RandomRotation) {
  manual_seed(1);
  const Tensor image = rand({2, 7, 9});
  EXPECT_TRUE(allclose(data::RandomRotation{0}(image, {}), image));
  const Tensor turned = data::RandomRotation{180}(image, {3, 0});
  EXPECT_EQ(turned.shape(), image.shape());
  EXPECT_FALSE(allclose(turned, image));
  EXPECT_TRUE(allclose(turned.select(1, 3).select(1, 4), image.select(1, 3).select(1, 4), 1e-5, 1e-6));  // the middle
  // A field of ones stays one inside.
  EXPECT_NEAR(data::RandomRotation{45}(ones({9, 9}), {3, 0}).narrow(0, 3, 3).narrow(1, 3, 3).mean().item<double>(), 1,
              1e-6);
  EXPECT_EQ(data::RandomRotation{}(zeros({0, 3, 4}), {}).shape(), (Shape{0, 3, 4}));
  EXPECT_EQ(data::RandomRotation{}(ones({3, 4}, u8), {}).dtype(), f32);
  EXPECT_THROW((data::RandomRotation{-1}(image, {})), Error);
  EXPECT_THROW((data::RandomRotation{}(ones({3}), {})), ShapeError);
}

/// A pixel of an image with zeros around it.
double pixel(const Tensor& image, double row, double column) {
  const bool inside = row >= 0 && row < static_cast<double>(image.size(0)) && column >= 0 &&
                      column < static_cast<double>(image.size(1));
  return inside ? image[static_cast<int64_t>(row)][static_cast<int64_t>(column)].item<double>() : 0;
}

TEST(Transform, RandomRotationInterpolatesTheFourNeighbors) {
  manual_seed(2);
  const std::tuple<Shape, DType, double> rows[] = {{{9, 6}, f32, 1e-5},  {{1, 8}, f32, 1e-5},  {{5, 1}, f32, 1e-5},
                                                   {{7, 7}, f64, 1e-12}, {{6, 9}, bf16, 8e-3}, {{6, 9}, f16, 1e-3}};
  for (const auto& [shape, dtype, tolerance] : rows)
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Tensor image = rand(shape).to(dtype);
      const RandomKey key = {seed, 0};
      const double angle = (2 * to_uniform(random_bits(key, 0)) - 1) * 3.14159265358979323846;
      const Tensor turned = data::RandomRotation{180}(image, key);
      ASSERT_EQ(turned.dtype(), dtype);
      const double my = static_cast<double>(shape[0] - 1) / 2, mx = static_cast<double>(shape[1] - 1) / 2;
      for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j) {
          const double dy = static_cast<double>(i) - my, dx = static_cast<double>(j) - mx;
          const double y = std::cos(angle) * dy + std::sin(angle) * dx + my;
          const double x = std::cos(angle) * dx - std::sin(angle) * dy + mx;
          double expected = 0;
          for (const double row : {std::floor(y), std::floor(y) + 1})
            for (const double column : {std::floor(x), std::floor(x) + 1})
              expected += (1 - std::fabs(y - row)) * (1 - std::fabs(x - column)) * pixel(image, row, column);
          EXPECT_NEAR(turned[i][j].item<double>(), expected, tolerance) << shape.to_string() << name_of(dtype);
        }
    }
}

TEST(Transform, ErrorsNameTheTransform) {
  const Tensor image = ones({3, 4});
  const std::pair<data::Transform, const char*> rows[] = {
      {data::Normalize{{0, 1}, 1}, "Normalize([3, 4] f32): there are numbers for 2 channels, the image is [3, 4]"},
      {data::RandomShift{-1}, "RandomShift([3, 4] f32): most must be 0 or more, not -1"},
      {data::RandomFlip{.p = 2}, "RandomFlip([3, 4] f32): p must be in [0, 1], not 2"},
      {data::CenterCrop{4, 4}, "CenterCrop([3, 4] f32): an image of 3 x 4 has no part of 4 x 4"},
      {data::RandomCrop{1, 1, -1}, "RandomCrop([3, 4] f32): padding must be 0 or more, not -1"},
      {data::Resize{0, 1}, "Resize([3, 4] f32): height and width must be 1 or more, not 0 and 1"},
      {data::RandomRotation{400}, "RandomRotation([3, 4] f32): degrees must be in [0, 360], not 400"}};
  for (const auto& [transform, text] : rows)
    EXPECT_EQ(error_of([&, &transform = transform] { transform(image, {}); }), text);
}

TEST(Transform, RefusesAnEmptyFunction) {
  const char* const text = "Transform: the function is empty";
  EXPECT_EQ(error_of([] { data::Transform(std::function<Tensor(const Tensor&)>()); }), text);
  EXPECT_EQ(error_of([] { data::Transform(std::function<Tensor(const Tensor&, RandomKey)>()); }), text);
}

TEST(Transform, RandomFlipOfRows) {
  const Tensor image = tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_TRUE(equal(data::RandomFlip{.p = 1, .axis = -2}(image, {}), tensor({{3.0, 4.0}, {1.0, 2.0}})));
}

}  // namespace
}  // namespace weft
