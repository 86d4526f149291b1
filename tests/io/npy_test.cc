// .npy: what NumPy wrote in every version, byte order and memory order is read; what it would not write is refused.
#include "io/npy.h"

#include <numeric>

#include "io/npy_header.h"
#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/golden_files.h"

namespace weft {
namespace {

using test::Folder;

Tensor load(std::string_view bytes) {
  return test::loaded(bytes, [](const std::string& path) { return io::load_npy(path); });
}
std::string refusal(std::string_view bytes) {
  return test::io_error([&] { load(bytes); });
}
/// Version 1.0 with this dict, not padded.
std::string file_of(const std::string& dict, const std::string& data = "") {
  const uint16_t length = static_cast<uint16_t>(dict.size());
  return std::string("\x93NUMPY\x01\x00", 8) + test::raw(length) + dict + data;
}
std::string dict(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}
std::vector<int64_t> ramp(size_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Npy, ReadsWhatNumpyWrote) {
  EXPECT_EQ(load(test::kNpyF4).dtype(), f32);
  EXPECT_EQ(load(test::kNpyF4).shape(), (Shape{2, 3}));
  EXPECT_EQ(load(test::kNpyF4).to_vector<int64_t>(), ramp(6));
  EXPECT_EQ(load(test::kNpyBigEndian).dtype(), f64);
  EXPECT_EQ(load(test::kNpyBigEndian).to_vector<int64_t>(), ramp(6));
  const Tensor fortran = load(test::kNpyFortran);
  EXPECT_EQ(fortran.shape(), (Shape{2, 3, 4}));
  EXPECT_TRUE(fortran.is_contiguous());
  EXPECT_EQ(fortran.to_vector<int64_t>(), ramp(24));
  EXPECT_EQ(load(test::kNpyBigEndianFortran).to_vector<int64_t>(), ramp(6));
  EXPECT_EQ(load(test::kNpyVersion2).to_vector<int16_t>(), (std::vector<int16_t>{1, 2}));
  EXPECT_EQ(load(test::kNpyVersion3).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(load(test::kNpyScalar).shape(), Shape{});
  EXPECT_EQ(load(test::kNpyScalar).item<float>(), 2.5f);
}

TEST(Npy, WritesWhatNumpyWrites) {
  const Folder folder;
  for (const std::string_view golden : {test::kNpyF4, test::kNpyScalar}) {
    io::save_npy(folder / "a.npy", load(golden));
    EXPECT_EQ(test::read_bytes(folder / "a.npy"), golden);
  }
}

TEST(Npy, KeepsEveryDtypeAndShape) {
  const Folder folder;
  for (const DType dtype : {f32, f64, f16, i64, i32, i16, i8, u8, boolean})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{2, 3}, Shape{1, 1, 1, 1, 1, 1, 1, 2}}) {
      const Tensor x = ones(shape, dtype);
      io::save_npy(folder / "a.npy", x);
      const Tensor back = io::load_npy(folder / "a.npy");
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_EQ(back.to_vector<double>(), x.to_vector<double>());
      EXPECT_EQ((test::read_bytes(folder / "a.npy").size() - static_cast<size_t>(x.numel()) * size_of(dtype)) % 64, 0u);
    }
  io::save_npy(folder / "a.npy", arange(6).view({2, 3}).t());
  EXPECT_EQ(io::load_npy(folder / "a.npy").to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(io::save_npy(folder / "a.npy", ones({1}, bf16)), DtypeError);
  const auto undefined = attempt([&] { io::save_npy(folder / "a.npy", Tensor()); });
  EXPECT_EQ(undefined.error().what(),
            std::string("save_npy(): a tensor is undefined (default-constructed, or an absent gradient)"));
}

TEST(Npy, DictsThatPythonCouldWrite) {
  for (const char* text : {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}",
                           "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"<i2\"}",
                           "{'descr':'=i2','fortran_order':False,'shape':(2,),}   \n",
                           "{'descr': '<i2', 'fortran_order': False, 'shape': (2L,), }"}) {
    const Tensor x = load(file_of(text, std::string("\x01\x00\x02\x00", 4)));
    EXPECT_EQ(x.to_vector<int16_t>(), (std::vector<int16_t>{1, 2})) << text;
  }
  EXPECT_EQ(load(file_of(dict("<i2", "(1L, 1L)"), "12")).shape(), (Shape{1, 1}));  // as Python 2 writes a long
}

TEST(Npy, RefusesTypesItDoesNotHave) {
  EXPECT_SAYS(refusal(test::kNpyObject), "element type '|O'");
  EXPECT_SAYS(refusal(test::kNpyComplex), "element type '<c16'");
  for (const char* descr : {"<u2", "<u4", "<f16", "|S4", "<U1", "<M8[ns]", "|V2", "f4", "<f", "", "<", "|f4", "!f4"})
    EXPECT_SAYS(refusal(file_of(dict(descr, "()"), "1234")), "element type") << descr;
  const std::string structured =
      "{'descr': [('a', '<i4'), ('b', [('c', '<f4')])], 'fortran_order': False, 'shape': ()}";
  EXPECT_SAYS(refusal(file_of(structured, "12345678")), "element type '[('a', '<i4'), ('b', [('c', '<f4')])]' is none");
  EXPECT_SAYS(refusal(file_of("{'descr': [('a'", "")), "malformed");
}

TEST(Npy, RefusesMalformedHeaders) {
  EXPECT_SAYS(refusal("\x93NUMPY"), "too short");
  EXPECT_SAYS(refusal("XNUMPY............"), "does not begin with");
  EXPECT_SAYS(refusal(std::string("\x93NUMPY\x04\x00..........", 18)), "version 4.0");
  EXPECT_SAYS(refusal(std::string("\x93NUMPY\x01\x01..........", 18)), "version 1.1");
  EXPECT_SAYS(refusal(std::string("PK\3\4\0\0\0\0........", 16)), "a zip archive, as numpy.savez writes (.npz)");
  EXPECT_SAYS(refusal(std::string("\x93NUMPY\x01\x00\xff\x00..", 12)), "a header of 255 bytes in a file of 12");
  EXPECT_SAYS(refusal(std::string("\x93NUMPY\x01\x00\xff\xff..", 12)), "a header of 65535 bytes; at most 10000");
  for (const uint32_t length : {10'001u, 1u << 31, UINT32_MAX})
    EXPECT_SAYS(refusal(std::string("\x93NUMPY\x02\x00", 8) + test::raw(length)), "at most 10000");
  for (const char* text : {"",
                           "{",
                           "{}",
                           "{'descr'}",
                           "{'descr': }",
                           "{'descr': '<f4",
                           "{'descr': '<f4', 'fortran_order': False}",
                           "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
                           "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
                           "{'descr': '<f4', 'descr': '<f4', 'shape': ()}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}"})
    EXPECT_SAYS(refusal(file_of(text, "1234")), "malformed") << text;
}

TEST(Npy, RefusesSizesThatAreNotThere) {
  for (const char* shape : {"(2147483648,)", "(4294967296,)", "(2,)"})
    EXPECT_SAYS(refusal(file_of(dict("<f4", shape), "1234")), "the file has 4") << shape;
  for (const char* shape : {"(9223372036854775807,)", "(4294967296, 4294967296)", "(4611686018427387905,)"})
    EXPECT_SAYS(refusal(file_of(dict("<f4", shape), "1234")), "does not fit into 64 bits") << shape;
  EXPECT_SAYS(refusal(file_of(dict("<f4", "()"), "12345")), "takes 4 bytes, the file has 5");
  EXPECT_SAYS(refusal(file_of(dict("|b1", "(2,)"), "\x01\x02")), "the byte 2 is not a bool");
}

TEST(Npy, AnyTruncationIsAnErrorAndAnyFlipIsReadOrRefused) {
  for (size_t length = 0; length < test::kNpyF4.size(); ++length) refusal(test::kNpyF4.substr(0, length));
  for (size_t i = 0; i < test::kNpyF4.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes(test::kNpyF4);
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      try {
        load(bytes);
      } catch (const IoError&) {
      }
    }
}

}  // namespace
}  // namespace weft
