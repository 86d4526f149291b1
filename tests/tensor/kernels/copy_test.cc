// Copies between any strides and dtypes, conversions at the ends of their range, masks, and accumulation into views
// that overlap.
#include "tensor/ops/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/ops/fill.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

using kernels::cpu::copy;

TEST(Copy, AnyStridesToAnyStrides) {
  Random random(3);
  for (const Shape& shape : std::vector<Shape>{
           {}, {0, 2}, {9}, {3, 5}, {2, 3, 4, 5}, {70, 90}, {3, 65, 33}, {2, 40, 8, 35}, {70, 300}, {265, 2, 66}}) {
    for (const DType dtype : {i8, bf16, f32, f64}) {
      for (int round = 0; round < 12; ++round) {
        AnyArray from(shape, dtype, kAllLayouts[pick(random, 0, 4)], random);
        AnyArray to(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
        from.fill([&] { return static_cast<double>(pick(random, -100, 100)); });
        const std::vector<unsigned char> before = to.memory;
        copy(from.operand(), to.operand());
        for_each_index(shape, [&](const IntList& index) {
          ASSERT_EQ(to.get(index), from.get(index))
              << text(dtype, shape) << to.view.to_string() << from.view.to_string();
          to.set(index, 0);
        });
        ASSERT_EQ(to.memory, before) << "wrote outside of the view";
      }
    }
  }
}

TEST(Copy, ConvertsBetweenAllDtypes) {
  Random random(4);
  for (const DType source : kAllDtypes) {
    for (const DType target : kAllDtypes) {
      for (const Layout layout : kDistinctLayouts) {
        AnyArray from({5, 67}, source, layout, random), to({5, 67}, target, Layout::row_major, random);
        from.fill([&] { return static_cast<double>(pick(random, -300, 300)) / (is_floating(source) ? 4 : 1); });
        copy(from.operand(), to.operand());
        for_each_index(from.shape(), [&](const IntList& index) {
          double want = from.get(index);
          if (target == boolean) {
            want = want != 0;
          } else if (is_integer(target) && is_floating(source)) {
            want = rounded(std::trunc(want), target);
          } else if (is_integer(target)) {  // wraps
            want = static_cast<double>(target == u8   ? static_cast<uint8_t>(static_cast<int64_t>(want))
                                       : target == i8 ? static_cast<int8_t>(static_cast<int64_t>(want))
                                                      : static_cast<int64_t>(want));
          }
          ASSERT_EQ(to.get(index), rounded(want, target)) << text(source, " to ", target) << " of " << from.get(index);
        });
      }
    }
  }
}

template <class To, class From> To converted(From x) {
  std::vector<From> from(37, x);  // long enough for the vectorized loop
  To to[37];
  const View view = View::contiguous({37});
  copy({from.data(), &view, dtype_of<From>}, {to, &view, dtype_of<To>});
  EXPECT_EQ(to[0], to[36]);
  EXPECT_EQ(to[0], kernels::cpu::convert<To>(x));
  return to[0];
}

TEST(Copy, FloatingToIntegerSaturates) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((converted<int32_t>(3e9f)), INT32_MAX);
  EXPECT_EQ((converted<int32_t>(-3e9f)), INT32_MIN);
  EXPECT_EQ((converted<int32_t>(2147483520.0f)), 2147483520);
  EXPECT_EQ((converted<int32_t>(2147483648.0f)), INT32_MAX);
  EXPECT_EQ((converted<int32_t>(2147483646.5)), 2147483646);
  EXPECT_EQ((converted<int64_t>(1e19)), INT64_MAX);
  EXPECT_EQ((converted<int64_t>(-inf)), INT64_MIN);
  EXPECT_EQ((converted<int64_t>(9007199254740993.0)), 9007199254740992);
  EXPECT_EQ((converted<int8_t>(127.9f)), 127);
  EXPECT_EQ((converted<int8_t>(128.0f)), 127);
  EXPECT_EQ((converted<int16_t>(inf)), 32767);
  EXPECT_EQ((converted<uint8_t>(-1.0)), 0);
  EXPECT_EQ((converted<uint8_t>(300.0)), 255);
  EXPECT_EQ((converted<int32_t>(nan)), 0);
  EXPECT_EQ((converted<int64_t>(static_cast<double>(nan))), 0);
  EXPECT_EQ((converted<uint8_t>(nan)), 0);
  EXPECT_EQ((converted<int32_t>(-1.9f)), -1);
}

template <class To, class From> void expect_converted(std::vector<From>& from) {
  std::vector<To> to(from.size());
  const View view = View::contiguous({static_cast<int64_t>(from.size())});
  copy({from.data(), &view, dtype_of<From>}, {to.data(), &view, dtype_of<To>});
  for (size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i], kernels::cpu::convert<To>(from[i])) << from[i];
}

TEST(Copy, ConvertsBetweenI64AndFloatsOfAnySize) {
  Random random(11);
  std::vector<int64_t> whole;
  for (int bits = 0; bits < 64; ++bits)
    for (int k = 0; k < 8; ++k) {
      const uint64_t offset = static_cast<uint64_t>(pick(random, -2, 2));  // sums of unsigned numbers wrap
      whole.push_back(static_cast<int64_t>((uint64_t{1} << bits) + offset));
      whole.push_back(static_cast<int64_t>(random()) >> bits);
    }
  std::vector<float> floats;
  std::vector<double> doubles;
  for (const int64_t x : whole) {
    doubles.push_back(static_cast<double>(x) + static_cast<double>(pick(random, -7, 7)) / 8);
    floats.push_back(static_cast<float>(doubles.back()));
  }
  const auto check = [&] {
    expect_converted<float>(whole);
    expect_converted<double>(whole);
    expect_converted<int64_t>(floats);
    expect_converted<int64_t>(doubles);
  };
  check();  // blocks with large numbers in them
  for (int64_t& x : whole) x %= int64_t{1} << 51;
  for (float& x : floats) x = std::fmod(x, 0x1p51f);
  for (double& x : doubles) x = std::fmod(x, 0x1p51);
  check();
}

TEST(Copy, BytesOfAnyLengthFromAndToAnyPlace) {
  Random random(12);
  std::vector<unsigned char> from((1 << 20) + 400);
  for (unsigned char& byte : from) byte = static_cast<unsigned char>(random());
  for (const int64_t length : {0, 1, 127, 1023, 1024, 1151, 4099, 1 << 20, (1 << 20) + 65}) {
    for (int round = 0; round < 8; ++round) {
      const int64_t begin = pick(random, 0, 130), at = pick(random, 1, 130);
      std::vector<unsigned char> to(static_cast<size_t>(length + at + 100), 7);
      kernels::cpu::copy_bytes(from.data() + begin, to.data() + at, length);
      ASSERT_TRUE(std::equal(to.begin() + at, to.begin() + at + length, from.begin() + begin)) << length;
      EXPECT_EQ(std::count(to.begin(), to.begin() + at, 7), at);
      EXPECT_EQ(std::count(to.begin() + at + length, to.end(), 7), 100);
    }
  }
}

template <class T> void check_gather() {
  for (int64_t step = -5; step <= 5; ++step) {
    for (const int64_t count : {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300}) {
      const int64_t span = count == 0 ? 0 : (count - 1) * std::abs(step) + 1;
      std::vector<T> from(static_cast<size_t>(span)), to(static_cast<size_t>(count) + 1, T(77));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(3 * i + 1);
      const T* first = from.data() + (step < 0 && span > 0 ? span - 1 : 0);
      kernels::cpu::gather_elements<T>(first, step * static_cast<int64_t>(sizeof(T)), to.data(), count);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(to[static_cast<size_t>(i)], first[i * step]) << text(sizeof(T), " bytes, ", step, " apart, ", i);
      ASSERT_EQ(to.back(), T(77)) << "wrote beyond the last";
    }
  }
}

/// The memory ends with the last element: a sanitizer sees what is read beyond it.
TEST(Copy, GathersElementsAnyDistanceApart) {
  check_gather<uint8_t>();
  check_gather<uint16_t>();
  check_gather<uint32_t>();
  check_gather<uint64_t>();
}

TEST(Copy, HalfTypesRoundToNearestEven) {
  Random random(5);
  std::vector<float> x(1003);
  for (float& value : x) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
  x[1002] = 65519.0f, x[1001] = 65520.0f, x[1000] = 1e-8f, x[999] = 5.97e-8f;
  std::vector<Float16> half(x.size());
  std::vector<BFloat16> brain(x.size());
  const View view = View::contiguous({static_cast<int64_t>(x.size())});
  copy({x.data(), &view, f32}, {half.data(), &view, f16});
  copy({x.data(), &view, f32}, {brain.data(), &view, bf16});
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half[i])) && std::isnan(static_cast<float>(brain[i])));
    } else {
      EXPECT_EQ(half[i].bits, Float16(x[i]).bits) << x[i];
      EXPECT_EQ(brain[i].bits, BFloat16(x[i]).bits) << x[i];
    }
  }
  EXPECT_EQ(static_cast<float>(half[1002]), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(half[1001])));
}

TEST(Copy, PaddingReadsAsZero) {
  Random random(6);
  for (int round = 0; round < property_cases(200); ++round) {
    const Shape shape = {pick(random, 1, 4), pick(random, 1, 5), pick(random, 1, 3)};
    AnyArray from(shape, f32, kAllLayouts[pick(random, 0, 4)], random);
    from.fill([&] { return static_cast<double>(pick(random, 1, 9)); });
    std::vector<Padding> amounts;
    for (int axis = 0; axis < 3; ++axis) amounts.emplace_back(pick(random, 0, 2), pick(random, 0, 2));
    View padded = from.view.pad(amounts);
    if (round % 3 == 0) padded = padded.permute({2, 0, 1}).slice(1, 1, std::nullopt);
    if (round % 5 == 0) padded = padded.flip({1});
    const View source = padded;
    AnyArray to(source.shape(), round % 2 == 0 ? f32 : i64, kDistinctLayouts[pick(random, 0, 3)], random);
    to.fill([] { return -7.0; });
    copy({from.memory.data(), &source, f32}, to.operand());
    for_each_index(source.shape(), [&](const IntList& index) {
      const float* memory = reinterpret_cast<const float*>(from.memory.data());
      const double want = source.is_valid(index) ? static_cast<double>(memory[source.linear_index(index)]) : 0.0;
      ASSERT_EQ(to.get(index), want) << source.to_string();
    });
  }
}

TEST(Copy, TransposedAndReversed) {
  Random random(8);
  for (const DType dtype : {u8, bf16, f32, f64})
    for (const IntList& axes : {IntList{0}, IntList{1}, IntList{0, 1}}) {
      AnyArray from({70, 131}, dtype, Layout::row_major, random);
      from.fill([&] { return static_cast<double>(pick(random, 0, 99)); });
      const View source = from.view.transpose(0, 1).flip(axes);
      AnyArray to(source.shape(), dtype, Layout::row_major, random);
      copy({from.memory.data(), &source, dtype}, to.operand());
      for_each_index(source.shape(), [&](IntList index) {
        IntList there = index;
        for (const int64_t axis : axes)
          there[static_cast<size_t>(axis)] =
              source.shape()[static_cast<size_t>(axis)] - 1 - index[static_cast<size_t>(axis)];
        ASSERT_EQ(to.get(index), from.get({there[1], there[0]})) << source.to_string();
      });
    }
}

// out += x, index by index.
void add_slowly(const AnyArray& x, AnyArray& out) {
  for_each_index(x.shape(), [&](const IntList& index) { out.set(index, out.get(index) + x.get(index)); });
}

void check_add_into(const View& target, size_t memory, DType dtype, Random& random) {
  AnyArray out({static_cast<int64_t>(memory)}, dtype, Layout::row_major, random);
  out.view = View::contiguous({static_cast<int64_t>(memory)});
  out.memory.resize(memory * size_of(dtype));
  out.fill([&] { return static_cast<double>(pick(random, -3, 3)); });
  out.view = target;
  AnyArray want = out, x(target.shape(), dtype, kAllLayouts[pick(random, 0, 4)], random);
  x.fill([&] { return static_cast<double>(pick(random, -1, 1)); });
  op::AddInto{}.cpu(out.operand(), x.operand());
  add_slowly(x, want);
  ASSERT_EQ(out.memory, want.memory) << text(dtype) << target.to_string();
}

TEST(AddInto, EqualsOneAdditionAfterTheOther) {
  Random random(8);
  for (const DType dtype : {f32, f64, f16, bf16, i64, i32, i16, i8}) {
    for (int round = 0; round < 20; ++round) {
      check_add_into(View::contiguous({3, 40}).transpose(0, 1), 120, dtype, random);
      check_add_into(View::contiguous({5, 30}).unfold(1, 4, 2).value(), 150, dtype, random);
      check_add_into(View::contiguous({40}).unfold(0, 7, 1).value(), 40, dtype, random);
      check_add_into(View::contiguous({4, 1}).expand({4, 33}), 4, dtype, random);
      check_add_into(View::contiguous({1, 4}).expand({33, 4}), 4, dtype, random);
      check_add_into(View::contiguous({2, 1, 3}).expand({2, 21, 3}).flip({0, 2}), 6, dtype, random);
      check_add_into(View::contiguous({6}).unfold(0, 3, 1)->unsqueeze(0).expand({5, 4, 3}), 6, dtype, random);
    }
  }
}

TEST(AddInto, LongSumsIntoOneElementKeepTheirPrecision) {
  std::vector<float> x(1 << 20, 0.1f);
  float out = 0;
  const View from = View::contiguous({1 << 20}), to = View::create({1 << 20}, {0});
  op::AddInto{}.cpu({&out, &to, f32}, {x.data(), &from, f32});
  EXPECT_NEAR(out, 104857.6, 0.02);
}

TEST(AddInto, HasTheSameBitsAtAnyThreadCount) {
  // Slices that share no memory lie innermost in x, and before them is an axis that goes into one element.
  const View from = View::create({3, 9000, 5}, {1, 3, 27000}), to = View::create({3, 9000, 5}, {9, 0, 1});
  std::vector<float> x(3 * 9000 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const int before = num_threads();
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    std::vector<float> out(23);
    op::AddInto{}.cpu({out.data(), &to, f32}, {x.data(), &from, f32});
    if (threads == 1) expected = out;
    EXPECT_EQ(out, expected) << threads;
  }
  set_num_threads(before);
}

TEST(Fill, WritesItsViewAndNothingElse) {
  Random random(9);
  for (const DType dtype : kAllDtypes) {
    for (const Layout layout : kDistinctLayouts) {
      AnyArray out({3, 7, 5}, dtype, layout, random);
      op::Fill{1}.cpu(out.operand(), out.operand());
      size_t written = 0;
      for_each_index(out.shape(), [&](const IntList& index) { ASSERT_EQ(out.get(index), 1) << text(dtype); });
      for (size_t i = 0; i < out.memory.size(); i += size_of(dtype))
        for (size_t byte = 0; byte < size_of(dtype); ++byte)
          if (out.memory[i + byte] != 0) {
            ++written;
            break;
          }
      EXPECT_EQ(written, 105u) << text(dtype);
    }
  }
}

TEST(Fill, Sequences) {
  const View view = View::contiguous({5}), reversed = View::create({5}, {-1}, 4);
  int64_t whole[5];
  op::Arange{INT64_MAX - 4, 1, 5, i64}.cpu({whole, &view, i64});
  EXPECT_EQ(whole[4], INT64_MAX);
  float real[5];
  op::Arange{1.0, -0.5, 5, f32}.cpu({real, &reversed, f32});
  EXPECT_EQ((std::vector<float>(real, real + 5)), (std::vector<float>{-1, -0.5, 0, 0.5, 1}));
  op::Linspace{0, 1, 5, f32}.cpu({real, &view, f32});
  EXPECT_EQ((std::vector<float>(real, real + 5)), (std::vector<float>{0, 0.25, 0.5, 0.75, 1}));
  const View single = View::contiguous({1});
  op::Linspace{3, 9, 1, f32}.cpu({real, &single, f32});
  EXPECT_EQ(real[0], 3);
  for (const auto& [rows, columns] : {std::pair{3, 5}, {5, 3}, {0, 2}, {1, 1}}) {
    Random random(10);
    AnyArray out({rows, columns}, f32, Layout::gaps, random);
    op::Eye{rows, columns, f32}.cpu(out.operand());
    for_each_index(out.shape(), [&](const IntList& index) { EXPECT_EQ(out.get(index), index[0] == index[1]); });
  }
}

}  // namespace
}  // namespace weft::testing
