// The parts of an error's text, and what an Error carries.
#include "tensor/core/error.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tensor/core/dtype.h"
#include "tensor/core/shape.h"

namespace weft {
namespace {

TEST(ErrorText, IntegersOfEveryWidth) {
  EXPECT_EQ(text(int8_t{-5}, ' ', uint8_t{200}, ' ', int16_t{-3}, ' ', 7u), "-5 200 -3 7");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text(size_t{12}), "12");
}

TEST(ErrorText, FloatingNumbersAreShortAndExact) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1.5f), "1.5");
  EXPECT_EQ(text(-2.0), "-2");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(text(-2.2250738585072014e-308), "-2.2250738585072014e-308");
}

TEST(ErrorText, WordsAndValues) {
  const std::string owned = "owned";
  const char* none = nullptr;
  EXPECT_EQ(text("a ", std::string_view("view"), ' ', owned, " ", none), "a view owned (null)");
  EXPECT_EQ(text(true, " ", false), "true false");
  EXPECT_EQ(text(Shape{2, 3}, " ", Shape{}, " ", bf16, " ", boolean), "[2, 3] [] bf16 bool");
  EXPECT_EQ(text(), "");
}

TEST(Error, EveryKindIsAnError) {
  const auto caught = [](auto&& raise) -> std::string {
    try {
      raise();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(caught([] { throw ShapeError("a"); }), "a");
  EXPECT_EQ(caught([] { throw DtypeError("b"); }), "b");
  EXPECT_EQ(caught([] { throw IndexError("c"); }), "c");
  EXPECT_EQ(caught([] { throw GradientError("d"); }), "d");
  EXPECT_EQ(caught([] { throw IoError("e"); }), "e");
}

TEST(Error, CarriesTheWholeList) {
  const Error error("missing: a, b and 1 more", {"a", "b", "c"});
  EXPECT_EQ(error.items, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_STREQ(error.what(), "missing: a, b and 1 more");
}

}  // namespace
}  // namespace weft
