// Transforms of images: sizes, values as PyTorch's, and errors.
#include "data/transform.h"

#include <gtest/gtest.h>

#include "tensor/all.h"

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
  EXPECT_THROW((data::RandomRotation{-1}(image, {})), Error);
  EXPECT_THROW((data::RandomRotation{}(ones({3}), {})), ShapeError);
}

TEST(Transform, RandomFlipOfRows) {
  const Tensor image = tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_TRUE(equal(data::RandomFlip{.p = 1, .axis = -2}(image, {}), tensor({{3.0, 4.0}, {1.0, 2.0}})));
}

}  // namespace
}  // namespace weft
