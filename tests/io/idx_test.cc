// IDX: plain and gzipped, every element type, and what is damaged, truncated or lies about its size.
#include "io/idx.h"

#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/golden_files.h"

namespace weft {
namespace {

Tensor load(std::string_view bytes) {
  return test::loaded(bytes, [](const std::string& path) { return io::load_idx(path); });
}
std::string refusal(std::string_view bytes) {
  return test::io_error([&] { load(bytes); });
}
std::string header(char type, std::initializer_list<uint32_t> sizes) {
  std::string out = {0, 0, type, static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out;
}

TEST(Idx, PlainAndGzipped) {
  for (const std::string_view bytes : {test::kIdx, test::kIdxGzip}) {
    const Tensor x = load(bytes);
    EXPECT_EQ(x.dtype(), i16);
    EXPECT_EQ(x.shape(), (Shape{2, 2}));
    EXPECT_EQ(x.to_vector<int16_t>(), (std::vector<int16_t>{1, -2, 300, -400}));
  }
}

TEST(Idx, EveryType) {
  EXPECT_EQ(load(header(0x08, {2}) + "\x01\xff").to_vector<int>(), (std::vector<int>{1, 255}));
  EXPECT_EQ(load(header(0x09, {2}) + "\x01\xff").to_vector<int>(), (std::vector<int>{1, -1}));
  EXPECT_EQ(load(header(0x0c, {1}) + "\x80" + std::string("\0\0\1", 3)).item<int32_t>(), INT32_MIN + 1);
  EXPECT_EQ(load(header(0x0d, {1}) + std::string("\x3f\x80\0\0", 4)).item<float>(), 1);
  EXPECT_EQ(load(header(0x0e, {1}) + std::string("\xc0\0\0\0\0\0\0\0", 8)).item<double>(), -2);
  EXPECT_EQ(load(header(0x08, {3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(load(header(0x08, {}) + "\x07").item<int>(), 7);
}

TEST(Idx, Refuses) {
  EXPECT_SAYS(test::io_error([] { io::load_idx("/nonexistent/idx"); }), "/nonexistent/idx");
  EXPECT_SAYS(refusal(""), "truncated");
  EXPECT_SAYS(refusal("\x01\x02\x08\x01"), "two zero bytes");
  for (const int type : {0, 7, 10, 15, 255})
    EXPECT_SAYS(refusal(header(static_cast<char>(type), {1}) + "1"), "element type " + std::to_string(type));
  EXPECT_SAYS(refusal(std::string("\0\0\x08\xff", 4)), "255 axes");
  EXPECT_SAYS(refusal(header(0x08, {3}) + "12"), "truncated: 1 bytes are missing");
  EXPECT_SAYS(refusal(header(0x08, {1}) + "12"), "bytes follow the last value");
  EXPECT_SAYS(refusal(header(0x08, {1u << 31})), "truncated: [2147483648] of u8");
  EXPECT_SAYS(refusal(header(0x0e, {UINT32_MAX})), "truncated");
  EXPECT_SAYS(refusal(header(0x08, {UINT32_MAX, UINT32_MAX, UINT32_MAX})), "64 bits");
  EXPECT_SAYS(refusal(header(0x08, {UINT32_MAX, UINT32_MAX, 0, UINT32_MAX})), "64 bits");
}

TEST(Idx, DamagedGzip) {
  const std::string good(test::kIdxGzip);
  for (size_t length = 0; length < good.size(); ++length) refusal(good.substr(0, length));
  EXPECT_SAYS(refusal(good.substr(0, good.size() - 4)), "damaged: unexpected end of file");
  std::string wrong_sum = good;
  wrong_sum[good.size() - 6] = static_cast<char>(wrong_sum[good.size() - 6] ^ 1);
  EXPECT_SAYS(refusal(wrong_sum), "damaged");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    try {
      load(bytes);
    } catch (const IoError&) {
    }
  }
}

}  // namespace
}  // namespace weft
