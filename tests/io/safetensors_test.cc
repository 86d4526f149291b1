// safetensors: what others wrote is read, what weft writes keeps every bit, and every check of the reader has a file
// that fails exactly there.
#include "io/safetensors.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "io/safetensors_header.h"
#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/golden_files.h"

namespace weft {
namespace {

using test::Folder;
using test::raw;

/// A file of this header and these bytes.
std::string file_of(const std::string& header, const std::string& data = "") {
  return raw(uint64_t{header.size()}) + header + data;
}

/// What the reader says to these bytes; every text names the path.
std::string refusal(const std::string& bytes) {
  static const Folder folder;
  const std::string path = folder / "x.safetensors";
  test::write_bytes(path, bytes);
  std::string text = test::io_error([&] { io::load_safetensors(path); });
  EXPECT_TRUE(text.starts_with(path + ": ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  return text;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"w\":" + entry(dtype, shape, offsets) + "}";
}

TEST(Safetensors, ReadsWhatPythonWrote) {
  const Folder folder;
  const std::string path = folder / "golden.safetensors";
  test::write_bytes(path, test::kSafetensors);
  io::Metadata metadata;
  const StateDict tensors = io::load_safetensors(path, &metadata);
  EXPECT_EQ(tensors.size(), 13u);
  EXPECT_EQ(metadata, (io::Metadata{{"format", "pt"}, {"note", "ä \"quoted\""}}));
  EXPECT_EQ(tensors.at("f32").shape(), (Shape{2, 3}));
  EXPECT_EQ(tensors.at("f32").to_vector<float>(),
            (std::vector<float>{1.5f, -2, 0.25f, std::numeric_limits<float>::infinity(), 0, 3e38f}));
  EXPECT_TRUE(std::signbit(tensors.at("f32").to_vector<float>()[4]));
  EXPECT_EQ(tensors.at("f64").to_vector<double>(), (std::vector<double>{1e300, -1}));
  EXPECT_EQ(tensors.at("bf16").dtype(), bf16);
  EXPECT_EQ(tensors.at("bf16").to_vector<float>(), (std::vector<float>{1, -3.140625f}));
  EXPECT_EQ(tensors.at("f16").dtype(), f16);
  EXPECT_EQ(tensors.at("f16").to_vector<float>(), (std::vector<float>{0.5f, 65504}));
  EXPECT_EQ(tensors.at("i64").to_vector<int64_t>(), (std::vector<int64_t>{-(int64_t{1} << 62), 7}));
  EXPECT_EQ(tensors.at("i32").to_vector<int32_t>(), (std::vector<int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(tensors.at("i16").to_vector<int16_t>(), (std::vector<int16_t>{-32768, 5}));
  EXPECT_EQ(tensors.at("i8").to_vector<int8_t>(), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(tensors.at("u8").to_vector<uint8_t>(), (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(tensors.at("bool").to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(tensors.at("scalar").shape(), Shape{});
  EXPECT_EQ(tensors.at("scalar").item<float>(), 42);
  EXPECT_EQ(tensors.at("empty").shape(), (Shape{0, 3}));
  EXPECT_EQ(tensors.at("grüß").item<float>(), 1);
}

TEST(Safetensors, WritesWhatPythonWrote) {
  // The order and the padding are the format's own, so the same tensors give the same bytes (keys of a header have no
  // order within an entry; Python's writer and this one agree on dtype, shape, data_offsets).
  const Folder folder;
  const std::string golden = folder / "golden.safetensors", copy = folder / "copy.safetensors";
  test::write_bytes(golden, test::kSafetensors);
  io::Metadata metadata;
  const StateDict tensors = io::load_safetensors(golden, &metadata);
  io::save_safetensors(copy, tensors, metadata);
  io::Metadata metadata_again;
  const StateDict again = io::load_safetensors(copy, &metadata_again);
  EXPECT_EQ(metadata, metadata_again);
  ASSERT_EQ(again.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(again.at(name).dtype(), tensor.dtype());
    EXPECT_EQ(again.at(name).shape(), tensor.shape());
    EXPECT_EQ(again.at(name).to_vector<double>(), tensor.to_vector<double>()) << name;
  }
  EXPECT_EQ(test::read_bytes(copy).size(), test::kSafetensors.size());
}

TEST(Safetensors, MapsWhatItReads) {
  const Folder folder;
  const std::string path = folder / "golden.safetensors";
  test::write_bytes(path, test::kSafetensors);
  io::Metadata metadata;
  const StateDict read = io::load_safetensors(path);
  StateDict mapped = io::map_safetensors(path, &metadata);
  EXPECT_EQ(metadata.size(), 2u);
  ASSERT_EQ(mapped.size(), read.size());
  for (const auto& [name, tensor] : read) {
    EXPECT_EQ(mapped.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_TRUE(equal(mapped.at(name), tensor)) << name;
  }
  Tensor kept = mapped.at("f64");
  mapped.clear();
  test::write_bytes(folder / "other", "");
  std::filesystem::rename(folder / "other", path);  // the file goes, its pages stay
  kept.add_(1);
  EXPECT_EQ(kept.to_vector<double>(), (std::vector<double>{1e300, 0}));
}

TEST(Safetensors, WritesToMappedTensorsStayInMemory) {
  const Folder folder;
  io::save_safetensors(folder / "a", {{"x", arange(100'000).to(f32)}});
  const std::string before = test::read_bytes(folder / "a");
  const int64_t live = memory_stats().live_bytes;
  StateDict mapped = io::map_safetensors(folder / "a");
  EXPECT_LT(memory_stats().live_bytes - live, 4096);
  mapped.at("x").mul_(2);
  EXPECT_EQ(mapped.at("x")[99'999].item<float>(), 199'998);
  EXPECT_EQ(test::read_bytes(folder / "a"), before);
}

TEST(Safetensors, KeepsEveryBit) {
  const Folder folder;
  std::vector<int32_t> bits;
  for (uint32_t i = 0; i < 1000; ++i) bits.push_back(static_cast<int32_t>(i * 2654435761u));
  bits.push_back(0x7fc12345);  // a NaN with a payload
  const Tensor values = Tensor::from<int32_t>(bits);
  const Tensor floats = Tensor::wrap(reinterpret_cast<float*>(values.data<int32_t>()), values.shape());
  io::save_safetensors(folder / "a", {{"x", floats}});
  const Tensor back = io::load_safetensors(folder / "a").at("x");
  EXPECT_EQ(std::memcmp(internal::raw(back), internal::raw(values), bits.size() * 4), 0);
}

TEST(Safetensors, SavesViewsInLogicalOrder) {
  const Folder folder;
  const Tensor x = arange(24).view({2, 3, 4});
  const StateDict views = {{"transpose", x.transpose(0, 2)},    {"slice", x.slice(2, 3, std::nullopt, -2)},
                           {"expand", x[0][0].expand({5, 4})},  {"offset", x[1]},
                           {"pad", x[0].pad({{1, 0}, {0, 2}})}, {"empty", x.slice(0, 2)}};
  io::save_safetensors(folder / "a", views);
  const StateDict back = io::load_safetensors(folder / "a");
  for (const auto& [name, view] : views) {
    EXPECT_EQ(back.at(name).shape(), view.shape()) << name;
    EXPECT_EQ(back.at(name).to_vector<int64_t>(), view.to_vector<int64_t>()) << name;
  }
}

TEST(Safetensors, LayoutIsWidestFirstThenByNameAndAligned) {
  const Folder folder;
  io::save_safetensors(folder / "a", {{"b", ones({1})}, {"a", ones({1}, u8)}, {"d", ones({1}, f64)}, {"c", ones({1})}});
  const std::string bytes = test::read_bytes(folder / "a");
  const size_t length = static_cast<uint8_t>(bytes[0]);
  EXPECT_EQ(length % 8, 0u);
  const auto header = io::detail::parse_safetensors_header(bytes.substr(8, length), bytes.size() - 8 - length);
  std::string order;
  for (const auto& one : header.entries) order += one.name;
  EXPECT_EQ(order, "dbca");
}

TEST(Safetensors, HeadersHaveTheBytesOfCompactJson) {
  const auto header = [](const std::vector<io::detail::SafetensorsEntry>& entries, const io::Metadata& metadata = {}) {
    return io::detail::write_safetensors_header({entries, metadata});
  };
  EXPECT_EQ(header({}), "{}      ");
  EXPECT_EQ(header({}, {{"b", ""}, {"a", "1"}}), R"({"__metadata__":{"a":"1","b":""}})" + std::string(7, ' '));
  EXPECT_EQ(header({{"w", f64, {2, 3}, 0, 48}, {"b", bf16, {}, 48, 50}, {"", u8, {0}, 50, 50}}, {{"k", "v"}}),
            R"({"__metadata__":{"k":"v"},"w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]},)"
            R"("b":{"dtype":"BF16","shape":[],"data_offsets":[48,50]},)"
            R"("":{"dtype":"U8","shape":[0],"data_offsets":[50,50]}})" +
                std::string(2, ' '));
  EXPECT_EQ(header({}, {{"\"\\/\b\t\n\f\r\x1f\x7f", "ä\u2028\U0001f600"}}),
            "{\"__metadata__\":{\"\\\"\\\\/\\b\\t\\n\\f\\r\\u001f\x7f\":\"ä\u2028\U0001f600\"}} ");
}

TEST(Safetensors, EmptyDictIsAFile) {
  const Folder folder;
  io::save_safetensors(folder / "a", {});
  EXPECT_TRUE(io::load_safetensors(folder / "a").empty());
}

TEST(Safetensors, WriterRefuses) {
  const Folder folder;
  const std::string path = folder / "a";
  EXPECT_SAYS(test::io_error([&] { io::save_safetensors(path, {{"w", Tensor()}}); }), "tensor 'w' is undefined");
  EXPECT_SAYS(test::io_error([&] { io::save_safetensors(path, {{"__metadata__", ones({1})}}); }), "__metadata__");
  EXPECT_SAYS(test::io_error([&] { io::save_safetensors(path, {{"\xff", ones({1})}}); }), "UTF-8");
  EXPECT_SAYS(test::io_error([&] { io::save_safetensors(path, {}, {{"k", "\xc0\x80"}}); }), "UTF-8");
  EXPECT_SAYS(test::io_error([&] { io::save_safetensors(folder / "no/a", {}); }), "no/a");
  EXPECT_EQ(folder.files(), 0);
}

TEST(SafetensorsReader, FileAndLength) {
  EXPECT_SAYS(test::io_error([] { io::load_safetensors("/nonexistent/w"); }), "/nonexistent/w");
  EXPECT_SAYS(test::io_error([] { io::load_safetensors("/"); }), "not a regular file");
  EXPECT_SAYS(refusal(""), "0 bytes, too short");
  EXPECT_SAYS(refusal("1234567"), "7 bytes, too short");
  EXPECT_SAYS(refusal(file_of("")), "does not begin with '{'");
  EXPECT_SAYS(refusal(raw(uint64_t{3}) + "{}"), "a header of 3 bytes in a file of 10");
  EXPECT_SAYS(refusal(raw(uint64_t{100'000'000}) + "{}"), "a header of 100000000 bytes in a file of 10");
  for (const uint64_t length :
       {uint64_t{100'000'001}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7})
    EXPECT_SAYS(refusal(raw(length) + "{}"), "not a safetensors file, or a damaged one: a header of " +
                                                 std::to_string(length) + " bytes; the format allows");
}

TEST(SafetensorsReader, NamesFilesOfPyTorch) {
  const std::string zip = refusal(std::string("PK\3\4\0\0\b\b\0\0", 10) + "archive/data.pkl");
  EXPECT_SAYS(
      zip, "a zip archive, as torch.save (.pt) and numpy.savez (.npz) write, not safetensors; convert it in Python: ");
  EXPECT_SAYS(zip, "safetensors.torch.save_file(torch.load(");
  EXPECT_SAYS(refusal(raw(uint64_t{1} << 63 | 0x180) + "{}"), "not a safetensors file, or a damaged one");
  EXPECT_SAYS(refusal("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j"), "a pickle, as old versions of torch.save write");
}

TEST(SafetensorsReader, HeaderIsUtf8Json) {
  EXPECT_SAYS(refusal(file_of(" {}")), "does not begin with '{'");
  EXPECT_SAYS(refusal(file_of("[]")), "does not begin with '{'");
  for (const char* bad :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"})
    EXPECT_SAYS(refusal(file_of(std::string("{\"") + bad + "\":1}")), "not valid UTF-8");
  for (const char* bad : {"{", "{\"", "{\"w\"", "{\"w\":", "{\"w\":}", "{,}", "{}{}", "{} x", "{\"a\\u12\":1}",
                          "{\"\\ud800\":1}", "{'w':1}"})
    EXPECT_SAYS(refusal(file_of(bad)), "not valid JSON") << bad;
  EXPECT_SAYS(refusal(file_of(std::string("{}\0", 3))), "contains a zero byte");
  EXPECT_SAYS(refusal(file_of(std::string("{}\0PK", 5))), "contains a zero byte");
  const Folder folder;
  test::write_bytes(folder / "a", file_of("{}      "));
  EXPECT_TRUE(io::load_safetensors(folder / "a").empty());
}

TEST(SafetensorsReader, Structure) {
  EXPECT_SAYS(refusal(file_of("{\"w\":1}")), "tensor 'w': a number is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":-1}")), "tensor 'w': a number is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":1.5}")), "tensor 'w': a number is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":null}")), "tensor 'w': null is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":true}")), "tensor 'w': a bool is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":\"s\"}")), "tensor 'w': a string is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":[]}")), "tensor 'w': an array is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"dtype\":{}}}")), "tensor 'w': an object is out of place");
  EXPECT_SAYS(refusal(file_of("{\"w\":{}}")), "tensor 'w': dtype is missing");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"dtype\":\"F32\"}}")), "tensor 'w': shape is missing");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"dtype\":\"F32\",\"shape\":[]}}")), "tensor 'w': data_offsets is missing");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"type\":\"F32\"}}")), "tensor 'w': unknown field 'type'");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}")), "tensor 'w': 'dtype' is there twice");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"shape\":[],\"shape\":[]}}")), "tensor 'w': 'shape' is there twice");
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"data_offsets\":[0,0],\"data_offsets\":[0,0]}}")),
              "'data_offsets' is there twice");
  const std::string scalar = entry("F32", "[]", "[0,4]");
  EXPECT_SAYS(refusal(file_of("{\"w\":" + scalar + ",\"w\":" + scalar + "}", "1234")), "the header has 'w' twice");
  EXPECT_SAYS(refusal(file_of("{\"w\":" + scalar + ",\"\\u0077\":" + scalar + "}", "1234")),
              "the header has 'w' twice");
  EXPECT_SAYS(refusal(file_of(std::string(100'000, '[').insert(0, "{\"w\":"))), "an array is out of place");
}

TEST(SafetensorsReader, Metadata) {
  const Folder folder;
  io::Metadata metadata = {{"stale", ""}};
  test::write_bytes(folder / "a", file_of("{\"__metadata__\":null,\"w\":" + entry("F32", "[]", "[0,4]") + "}", "1234"));
  EXPECT_EQ(io::load_safetensors(folder / "a", &metadata).count("w"), 1u);
  EXPECT_TRUE(metadata.empty());
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":1}")), "__metadata__: a number is out of place");
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":{\"a\":1}}")), "__metadata__: a number is out of place");
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":{\"a\":null}}")), "__metadata__: null is out of place");
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":{\"a\":{}}}")), "__metadata__: an object is out of place");
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":{\"a\":\"x\",\"a\":\"y\"}}")), "__metadata__ has 'a' twice");
  EXPECT_SAYS(refusal(file_of("{\"__metadata__\":{},\"__metadata__\":{}}")), "the header has '__metadata__' twice");
}

TEST(SafetensorsReader, DtypeAndShape) {
  for (const char* dtype : {"F8_E4M3", "U16", "U32", "U64", "C64", "F4", "f32", "", "F32 "})
    EXPECT_SAYS(refusal(file_of(one(dtype, "[]", "[0,4]"), "1234")), "is none of F32") << dtype;
  EXPECT_SAYS(refusal(file_of("{\"w\":{\"dtype\":4}}")), "tensor 'w': a number is out of place");
  EXPECT_SAYS(refusal(file_of(one("F32", "4", "[0,4]"), "1234")), "tensor 'w': a number is out of place");
  EXPECT_SAYS(refusal(file_of(one("F32", "[-1]", "[0,4]"), "1234")), "tensor 'w': the number -1 is negative");
  EXPECT_SAYS(refusal(file_of(one("F32", "[1.0]", "[0,4]"), "1234")), "'1.0' is not an integer of 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[1e0]", "[0,4]"), "1234")), "'1e0' is not an integer of 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[\"1\"]", "[0,4]"), "1234")), "tensor 'w': a string is out of place");
  EXPECT_SAYS(refusal(file_of(one("F32", "[[1]]", "[0,4]"), "1234")), "tensor 'w': an array is out of place");
  EXPECT_SAYS(refusal(file_of(one("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), "1234")), "tensor 'w': more than 8 axes");
  EXPECT_SAYS(refusal(file_of(one("F32", "[2]", "[0,4]"), "1234")),
              "tensor 'w': [2] of f32 takes 8 bytes, its data_offsets span 4");
}

TEST(SafetensorsReader, BoundaryValuesOfSizes) {
  EXPECT_SAYS(refusal(file_of(one("F32", "[2147483648]", "[0,4]"), "1234")), "takes 8589934592 bytes");
  EXPECT_SAYS(refusal(file_of(one("F32", "[4294967296]", "[0,4]"), "1234")), "takes 17179869184 bytes");
  EXPECT_SAYS(refusal(file_of(one("U8", "[9223372036854775807]", "[0,4]"), "1234")), "takes 9223372036854775807 bytes");
  EXPECT_SAYS(refusal(file_of(one("F32", "[9223372036854775807]", "[0,4]"), "1234")), "does not fit into 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[9223372036854775808]", "[0,4]"), "1234")),
              "9223372036854775808 is above 2^63 - 1");
  EXPECT_SAYS(refusal(file_of(one("F32", "[18446744073709551615]", "[0,4]"), "1234")),
              "18446744073709551615 is above 2^63 - 1");
  EXPECT_SAYS(refusal(file_of(one("F32", "[18446744073709551616]", "[0,4]"), "1234")), "not an integer of 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[-9223372036854775808]", "[0,4]"), "1234")), "is negative");
  // Products that wrap around: to 0, to 1, to the right size.
  EXPECT_SAYS(refusal(file_of(one("F32", "[4294967296,4294967296]", "[0,4]"), "1234")), "does not fit into 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[4611686018427387905]", "[0,4]"), "1234")), "does not fit into 64 bits");
  EXPECT_SAYS(refusal(file_of(one("U8", "[4294967296,4294967296]", "[0,0]"))), "does not fit into 64 bits");
  EXPECT_SAYS(refusal(file_of(one("U8", "[4294967296,4294967296,4294967296,0]", "[0,0]"))),
              "does not fit into 64 bits");
  EXPECT_SAYS(refusal(file_of(one("U8", "[0,4294967296,4294967296,4294967296]", "[0,0]"))),
              "does not fit into 64 bits");
}

TEST(SafetensorsReader, Offsets) {
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[]"), "1234")), "data_offsets has 0 numbers where 2 belong");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0]"), "1234")), "data_offsets has 1 numbers where 2 belong");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,4,4]"), "1234")), "data_offsets has 3 numbers where 2 belong");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,-4]"), "1234")), "the number -4 is negative");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,4.0]"), "1234")), "not an integer of 64 bits");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[4,0]"), "1234")), "tensor 'w': ends at byte 0, before it begins at 4");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,4]"), "123")),
              "tensor 'w': ends at byte 4 of the data, of which the file has 3");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,4]"), "12345")), "1 bytes follow the last tensor");
  EXPECT_SAYS(refusal(file_of("{}", "1")), "1 bytes follow the last tensor");
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[1,5]"), "12345")), "tensor 'w': begins at byte 1, a hole");
  const auto two = [](const std::string& a, const std::string& b) {
    return file_of("{\"a\":" + entry("U8", "[2]", a) + ",\"b\":" + entry("U8", "[2]", b) + "}", "12345");
  };
  EXPECT_SAYS(refusal(two("[0,2]", "[3,5]")), "tensor 'b': begins at byte 3, a hole after the last used byte 2");
  EXPECT_SAYS(refusal(two("[0,2]", "[1,3]")), "tensor 'b': begins at byte 1, inside the tensor before it (to 2)");
  EXPECT_SAYS(refusal(two("[0,2]", "[0,2]")), "inside the tensor before it");
  EXPECT_SAYS(refusal(two("[0,2]", "[2,4]")), "1 bytes follow the last tensor");
}

TEST(SafetensorsReader, BoundaryValuesOfOffsets) {
  for (const uint64_t value : {uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 3}) {
    const std::string number = std::to_string(value), wrapped = std::to_string(value + 4);
    EXPECT_SAYS(refusal(file_of(one("U8", "[4]", "[0," + number + "]"), "1234")), "its data_offsets span") << value;
    EXPECT_SAYS(refusal(file_of(one("U8", "[4]", "[" + number + "," + wrapped + "]"), "1234")),
                value + 4 < value ? "before it begins" : "a hole")
        << value;
    EXPECT_SAYS(refusal(file_of(one("U8", "[" + number + "]", "[0," + number + "]"), "1234")),
                value > INT64_MAX ? "is above 2^63 - 1" : "of which the file has 4")
        << value;
    EXPECT_SAYS(refusal(file_of(one("U8", "[0]", "[" + number + "," + number + "]"), "1234")), "a hole") << value;
  }
  EXPECT_SAYS(refusal(file_of(one("F32", "[]", "[0,18446744073709551616]"), "1234")), "not an integer of 64 bits");
}

TEST(SafetensorsReader, BoolsAreZeroOrOne) {
  EXPECT_SAYS(refusal(file_of(one("BOOL", "[2]", "[0,2]"), "\x01\x02")), "the byte 2 is not a bool");
}

TEST(SafetensorsReader, NamesInErrorsAreShortAndPrintable) {
  const std::string text = refusal(file_of("{\"" + std::string(10'000, 'n') + "\\n\":1}"));
  EXPECT_LT(text.size(), 300u);
  EXPECT_SAYS(refusal(file_of("{\"a\\nb\":1}")), "tensor 'a?b'");
}

TEST(SafetensorsReader, AnyTruncationIsAnError) {
  const std::string bytes(test::kSafetensors);
  for (size_t length = 0; length < bytes.size(); ++length) refusal(bytes.substr(0, length));
}

TEST(SafetensorsReader, AnyFlippedByteIsReadOrRefused) {
  const Folder folder;
  const std::string path = folder / "a";
  int refused = 0;
  for (size_t i = 0; i < test::kSafetensors.size(); ++i) {
    std::string bytes(test::kSafetensors);
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    test::write_bytes(path, bytes);
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    try {
      io::load_safetensors(path);
    } catch (const IoError&) {
      ++refused;
    }
    EXPECT_LT(memory_stats().peak_bytes - before, 64 * 1024);
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace weft
