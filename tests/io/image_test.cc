// PNG images and charts.
#include "io/image.h"

#include <cfloat>
#include <cmath>

#include "io/chart.h"
#include "tensor/all.h"
#include "tests/comma_locale.h"
#include "tests/io/files.h"
#include "tests/io/golden_files.h"

namespace weft {
namespace {

using test::Folder;

Tensor load(std::string_view bytes) {
  return test::loaded(bytes, [](const std::string& path) { return io::load_png(path); });
}

TEST(Png, ReadsWhatOthersWrote) {
  const Tensor rgb = load(test::kPngRgb);
  EXPECT_EQ(rgb.shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(rgb.dtype(), u8);
  EXPECT_EQ(rgb.to_vector<int>(), (std::vector<int>{255, 1, 0, 2, 10, 3}));
  const Tensor gray = load(test::kPngGray);
  EXPECT_EQ(gray.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(gray.to_vector<int>(), (std::vector<int>{0, 100, 200, 255}));
  // A file of 16 bits that states no gamma is as bright as one of 8.
  EXPECT_EQ(load(test::kPngGray16).to_vector<int>(), (std::vector<int>{0, 64, 128, 255}));
}

TEST(Png, KeepsBytesAndScalesFloats) {
  const Folder folder;
  const Tensor image = arange(0, 2 * 3 * 5).view({3, 2, 5}).to(u8);
  io::save_png(folder / "a.png", image);
  EXPECT_TRUE(equal(io::load_png(folder / "a.png"), image));
  io::save_png(folder / "a.png", image[1].t());
  EXPECT_TRUE(equal(io::load_png(folder / "a.png")[0], image[1].t()));
  io::save_png(folder / "a.png", tensor({{0.0, 1.0, 0.5}, {-3.0, 7.0, double(NAN)}}));
  EXPECT_EQ(io::load_png(folder / "a.png").to_vector<int>(), (std::vector<int>{0, 255, 128, 0, 255, 0}));
}

TEST(Png, Refuses) {
  const Folder folder;
  const std::string path = folder / "a.png";
  EXPECT_THROW(io::save_png(path, zeros({2, 4, 4})), ShapeError);
  EXPECT_THROW(io::save_png(path, zeros({4})), ShapeError);
  EXPECT_THROW(io::save_png(path, zeros({0, 4})), ShapeError);
  EXPECT_THROW(io::save_png(path, zeros({4, 4}, i64)), DtypeError);
  EXPECT_THROW(io::save_png(path, zeros({1, 1'000'001}, u8)), ShapeError);
  EXPECT_SAYS(test::io_error([&] { io::load_png(path); }), "a.png");
  EXPECT_SAYS(test::io_error([] { load("no image"); }), "PNG");
  EXPECT_FALSE(test::io_error([] { load(test::kPngHuge); }).empty());
  for (size_t length = 0; length < test::kPngRgb.size(); ++length)
    EXPECT_FALSE(test::io_error([&] { load(test::kPngRgb.substr(0, length)); }).empty()) << length;
  EXPECT_SAYS(test::io_error([&] { load(test::kPngRgb.substr(0, 50)); }), "are left");
  EXPECT_SAYS(test::io_error([] { io::save_png("/none/a.png", zeros({4, 4})); }), "/none/a.png: cannot create");
}

// libpng itself takes files whose gamma or transparency is damaged, with other colors.
TEST(Png, AnyFlippedBitIsRefused) {
  for (const std::string_view file : {test::kPngRgb, test::kPngGray, test::kPngGray16})
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
      std::string bytes(file);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      EXPECT_FALSE(test::io_error([&] { load(bytes); }).empty()) << bit;
    }
}

TEST(MakeGrid, PlacesImages) {
  const Tensor images = ones({3, 1, 2, 2}) * tensor({1.0, 2.0, 3.0}).view({3, 1, 1, 1});
  const Tensor sheet = io::make_grid(images, 2, 1, 9);
  EXPECT_EQ(sheet.shape(), (Shape{1, 7, 7}));
  const std::vector<int> expected = {9, 9, 9, 9, 9, 9, 9, 9, 1, 1, 9, 2, 2, 9, 9, 1, 1, 9, 2, 2, 9, 9, 9, 9, 9,
                                     9, 9, 9, 9, 3, 3, 9, 9, 9, 9, 9, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  EXPECT_EQ(sheet.to_vector<int>(), expected);
  EXPECT_EQ(io::make_grid(images, INT64_MAX, 1).shape(), (Shape{1, 4, 10}));
  EXPECT_THROW(io::make_grid(images, 0), Error);
  EXPECT_THROW(io::make_grid(images[0]), ShapeError);
}

TEST(Chart, DrawsFiniteValuesAndLabels) {
  const Folder folder;
  const std::string path = folder / "a.svg";
  io::save_line_chart(path, {{"train <1>", {1, 0.5, NAN, 0.25, 0.2}}, {"test", {2, 1}, {0, 4}}},
                      {.title = "a & b", .x_label = "epoch", .y_label = "loss"});
  const std::string svg = test::read_bytes(path);
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  for (const char* part : {"train &lt;1&gt;", "a &amp; b", "epoch", "loss"}) EXPECT_SAYS(svg, part);
  size_t lines = 0;
  for (size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 3u);  // the gap makes two of the first
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Chart, RefusesTextThatIsNotUtf8) {
  const Folder folder;
  EXPECT_THROW(io::save_line_chart(folder / "a.svg", {{"a\xc3", {1, 2}}}), Error);
  EXPECT_THROW(io::save_line_chart(folder / "a.svg", {{"a", {1, 2}}}, {.title = "\xff"}), Error);
  io::save_line_chart(folder / "a.svg", {{"a\xc3\xa4", {1, 2}}});
  EXPECT_EQ(folder.files(), 1);
}

TEST(Chart, LabelsOfCloseTicksDiffer) {
  const Folder folder;
  const std::string path = folder / "a.svg";
  std::vector<double> values;
  for (int i = 0; i <= 5; ++i) values.push_back(12345 + i);
  io::save_line_chart(path, {{"y", values, {1234567, 1234568, 1234569, 1234570, 1234571, 1234572}}});
  const std::string svg = test::read_bytes(path);
  for (const char* tick : {">12345<", ">12347<", ">12350<", ">1234567<", ">1234572<"}) EXPECT_SAYS(svg, tick);
  io::save_line_chart(path, {{"y", {0, 0.1, 0.25}}});
  EXPECT_SAYS(test::read_bytes(path), ">0.15<");
  EXPECT_THROW(io::save_line_chart(path, {{"y", {1}}}, {.width = 0}), Error);
  EXPECT_THROW(io::save_line_chart(path, {{"y", {1}}}, {.height = -1}), Error);
}

TEST(Chart, HardRanges) {
  const Folder folder;
  const std::string path = folder / "a.svg";
  for (const std::vector<double>& y : {std::vector<double>{},
                                       {1, 1, 1},
                                       {0},
                                       {1e16, 1e16 + 2},
                                       {-1e308, 1e308},
                                       {-1.7e308, 1.7e308},
                                       {1.79e308},
                                       {-DBL_MAX, DBL_MAX},
                                       {-DBL_MAX},
                                       {NAN},
                                       {1e-320, 2e-320}}) {
    for (const bool log_y : {false, true}) {
      io::save_line_chart(path, {{"y", y}}, {.log_y = log_y});
      const std::string svg = test::read_bytes(path);
      EXPECT_LT(svg.size(), 10'000u);
      EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
      EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    }
  }
  EXPECT_THROW(io::save_line_chart(path, {{"y", {1, 2}, {1}}}), Error);
}

TEST(Chart, HasPointsInALocaleOfCommas) {
  const Folder folder;
  const auto drawn = [&] {
    io::save_line_chart(folder / "a.svg", {{"y", {0, 0.1, 0.25}}});
    return test::read_bytes(folder / "a.svg");
  };
  const std::string expected = drawn();
  EXPECT_SAYS(expected, ">0.15<");
  const test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a comma is installed";
  EXPECT_EQ(drawn(), expected);
}

}  // namespace
}  // namespace weft
