// Functions where PyTorch or NumPy has a convention: their options, dtypes and bounds, and other names.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/functions_all.h"
#include "tensor/runtime/threads.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

// ---- what must not compile, as it would not do what it says ----

template <class N>
concept NumbersAreSizes = requires(N n) {
  zeros(n);
}
|| requires(N n) { randn(n, n); };
static_assert(!NumbersAreSizes<int> && !NumbersAreSizes<int64_t>);
template <class N>
concept NumbersAreOptions = requires(const Tensor& x, N n) {
  max_pool2d(x, {n, n});
}
|| requires(const Tensor& x, N n) { conv2d(x, x, {}, {n, n}); }
|| requires(const Tensor& x, N n) { im2col(x, {n, n}); }
|| requires(const Tensor& x, N n) { fold(x, {n, n}, {n, n}); }
|| requires(const Tensor& x, N n) { lp_pool2d(x, 2, {n, n}); }
|| requires(const Tensor& x, N n) { max_unpool2d(x, x, {n, n}); }
|| requires(const Tensor& x, N n) { max_unpool3d(x, x, {n, n, n}, {n, n, n}); };
static_assert(!NumbersAreOptions<int> && !NumbersAreOptions<int64_t>);
template <class B>
concept TrainingIsAProbability = requires(const Tensor& x, B training) {
  dropout(x, training);
};
static_assert(TrainingIsAProbability<double> && !TrainingIsAProbability<bool>);

// ---- conventions of PyTorch's functions ----

TEST(Functions, KeepViewsOfNothingAsManyAsAskedFor) {
  EXPECT_EQ(zeros({0}).chunk(3).size(), 3u);
  EXPECT_EQ(ones({2}).chunk(5).size(), 2u);
  EXPECT_EQ(ones({5}).chunk(3).size(), 3u);
  EXPECT_EQ(numbers(arange(3).t()), Numbers({0, 1, 2}));
  EXPECT_EQ(numbers(ones({}).t()), Numbers({1}));
  EXPECT_EQ(numbers(arange(5).narrow(0, -2, 2)), Numbers({3, 4}));
}

TEST(Functions, PadBeforeTheyCut) {
  const Tensor x = arange(3).to(f32);
  EXPECT_EQ(numbers(pad(x, {{2, -1}}, PadMode::reflect)), Numbers({2, 1, 0, 1}));
  EXPECT_EQ(numbers(pad(x, {{-1, 2}}, PadMode::reflect)), Numbers({1, 2, 1, 0}));
  EXPECT_EQ(numbers(pad(x, {{2, -1}}, PadMode::replicate)), Numbers({0, 0, 0, 1}));
  EXPECT_EQ(numbers(pad(x, {{2, -1}}, PadMode::circular)), Numbers({0, 1, 0, 1}));
}

TEST(Functions, PadWithTheSignOfZero) {
  EXPECT_EQ(numbers(signbit(pad(ones({1}), {{1, 1}}, PadMode::constant, -0.0))), Numbers({1, 0, 1}));
  EXPECT_EQ(numbers(signbit(pad(ones({1}), {{1, 1}}, PadMode::constant, 0.0))), Numbers({0, 0, 0}));
}

TEST(Functions, SolveForAVectorWithOneMatrixOfOneElement) {
  const Tensor a = full({1, 1, 1}, 2.0);
  EXPECT_EQ(solve(a, ones({1})).shape(), Shape({1, 1})) << "as with more matrices";
  EXPECT_EQ(solve(a.expand({5, 1, 1}), ones({1})).shape(), Shape({5, 1}));
  EXPECT_EQ(solve(a, ones({1, 1})).shape(), Shape({1, 1})) << "a vector for each matrix";
}

TEST(Functions, SampleIntegerLogitsWithNoiseThatIsNotRounded) {
  const Tensor logits = tensor({1, 2, 3});
  Generator a(1), b(1);
  EXPECT_TRUE(equal(gumbel_softmax(logits, {}, a), gumbel_softmax(logits.to(f32), {}, b)));
}

TEST(Functions, GiveNoAliasOfTheirArgument) {
  const Tensor a = ones({2, 2});
  EXPECT_FALSE(matrix_power(a, 1).shares_storage(a));
  EXPECT_FALSE(diff(a, 0).shares_storage(a));
  for (const std::vector<TensorIndex>& all : {std::vector<TensorIndex>{}, {Ellipsis}, {Slice()}, {Slice(), Slice()}}) {
    EXPECT_FALSE(a.index(all).is_same(a));
    EXPECT_TRUE(a.index(all).shares_storage(a));
  }
  a.index({Ellipsis}) = 3.0;
  EXPECT_EQ(numbers(a), Numbers({3, 3, 3, 3}));
  const Tensor none = zeros({0, 2}), scalar = ones({});
  EXPECT_FALSE(rot90(a, 0).is_same(a));
  EXPECT_FALSE(squeeze(a, IntList{}).is_same(a));
  EXPECT_FALSE(split(none, 3)[0].is_same(none));
  EXPECT_FALSE(squeeze(scalar, {0}).is_same(scalar));
  EXPECT_FALSE(movedim(scalar, IntList{0}, IntList{0}).is_same(scalar));
}

TEST(Functions, CheckWhatTheyDoNotNeed) {
  EXPECT_EQ(error_of([] { dropout(ones({2}), 1.5, false); }), "dropout([2] f32): p = 1.5 must lie between 0 and 1");
  EXPECT_THROW(solve(eye(2), ones({2}), false), ShapeError);
  EXPECT_THROW(affine_grid(ones({1, 2, 3}, i64), {1, 1, 2, 2}), DtypeError);
  EXPECT_THROW(trapezoid(ones({3}, boolean)), DtypeError);
  const Tensor two = ones({2, 2});
  EXPECT_EQ(error_of([&] {
              scatter_reduce(two, 0, tensor({0, 1}), ones({2}), "sum");
            }),
            "scatter_reduce([2, 2] f32, [2] i64, [2] f32): the index has 1 axes, the tensor 2");
  EXPECT_EQ(error_of([&] { solve_triangular(two, ones({2}), {.left = false}); }),
            "solve_triangular([2, 2] f32, [2] f32): the right side must be matrices (..., k, n), not shape [2]");
  EXPECT_EQ(error_of([&] { cholesky_solve(two, ones({2})); }),
            "cholesky_solve([2, 2] f32, [2] f32): it takes square matrices (..., n, n), not shape [2]");
}

TEST(Functions, HaveTheDtypesThatPromotionGives) {
  const Tensor matrix = ones({2, 2}, i32), batch = ones({3, 2, 2}, i32);
  EXPECT_EQ(addbmm(matrix, batch, batch).dtype(), i32);
  EXPECT_EQ(numbers(addmm(ones({1, 2}, i32), ones({1, 3}, i32), ones({3, 2}, i32), 1, 0.5)), Numbers({2.5, 2.5}));
  EXPECT_EQ(numbers(addmv(ones({2}, i32), ones({2, 3}, i32), ones({3}, i32), 0.5, 1)), Numbers({3.5, 3.5}));
  EXPECT_EQ(addr(ones({2, 2}, boolean), ones({2}, boolean), ones({2}, boolean)).dtype(), boolean);
  EXPECT_EQ(addmm(matrix, matrix, matrix, 1.0, 1.0).dtype(), i32);
  EXPECT_EQ(numbers(vector_norm(ones({3}, boolean), 0)), Numbers({3}));
  EXPECT_EQ(addmm(ones({2, 2}, f64), ones({2, 2}), ones({2, 2}), 0).dtype(), f64);
  for (const DType dtype : {u8, i8, i32}) {
    EXPECT_EQ(vander(full({1}, 100, dtype), 3).dtype(), i64);
    EXPECT_EQ(numbers(vander(full({1}, 100, dtype), 3)), Numbers({1, 100, 10000}));
  }
  EXPECT_THROW(vander(ones({2}, boolean)), DtypeError);
  const Tensor wide = tensor({0, 1}), u = tensor({200, 100}).to(u8);
  EXPECT_EQ(numbers(add(wide, u, 2)), Numbers({400, 201}));
  EXPECT_EQ(numbers(sub(wide, u, 2)), Numbers({-400, -199}));
  EXPECT_EQ(numbers(wide.clone().add_(u, 2)), Numbers({400, 201}));
  EXPECT_EQ(numbers(wide.clone().sub_(u, 2)), Numbers({-400, -199}));
  EXPECT_EQ(numbers(wide.clone().addcmul_(u, u, 1)), Numbers({40000, 10001}));
  EXPECT_EQ(add(wide.to(i32), tensor({true, false}), 2).dtype(), i32);
  EXPECT_EQ(numbers(index_add(zeros({2}), 0, wide, tensor({0.0, 300.0}, f16), 300)), Numbers({0, 90000}));
  EXPECT_EQ(numbers(bincount(zeros({300}, i64), ones({300}, u8))), Numbers({300}));
  EXPECT_EQ(numbers(bincount(wide, tensor({true, true}))), Numbers({1, 1}));
  EXPECT_EQ(numbers(copysign(u, -3)), Numbers({-200, -100}));
  EXPECT_EQ(hypot(u, 300).dtype(), f32);
  const Tensor x = full({2, 3}, -1, bf16);
  EXPECT_EQ(prelu(x, ones({1})).dtype(), bf16);
  EXPECT_EQ(prelu(x, ones({3})).dtype(), bf16);
  EXPECT_EQ(weft::normal(ones({3}), ones({}, f64)).dtype(), f32);
  for (const DType dtype : {f64, f32, bf16, i64}) {
    const DType common = promote(bf16, dtype);
    EXPECT_EQ(trapezoid(x, ones({3}, dtype)).dtype(), common);
    EXPECT_EQ(cumulative_trapezoid(x, ones({3}, dtype)).dtype(), common);
  }
}

TEST(Functions, LoseNothingBesideIntegers) {
  const Tensor x = zeros({3}, i64), bytes = zeros({3}, u8), at = tensor({0}), half = tensor({2.7});
  EXPECT_THROW(index_add(x, 0, at, half), DtypeError);
  EXPECT_EQ(error_of([&] { index_add(x, 0, at, ones({1}, i64), 0.5); }),
            "index_add([3] i64, [1] i64, [1] i64): alpha is 0.5; it takes an integer beside tensors of integers");
  EXPECT_THROW(index_copy(x, 0, at, half), DtypeError);
  EXPECT_THROW(put(x, at, half), DtypeError);
  EXPECT_EQ(error_of([&] { scatter(x, 0, at, half); }),
            "scatter([3] i64, [1] i64, [1] f32): a floating source cannot be written to i64; cast it first, e.g. "
            "src.to(i64)");
  EXPECT_THROW(scatter_add(x, 0, at, half), DtypeError);
  EXPECT_THROW(scatter_reduce(x, 0, at, half, "amax"), DtypeError);
  EXPECT_THROW(masked_scatter(x, x == 0, ones({3})), DtypeError);
  EXPECT_THROW(index_put(x, {at}, half, true), DtypeError);
  const Tensor large = tensor({300});
  EXPECT_EQ(error_of([&] { scatter_add(bytes, 0, at, large); }),
            "scatter_add([3] u8, [1] i64, [1] i64): the value 300 does not fit into u8, which holds 0 to 255");
  EXPECT_THROW(masked_fill(bytes, bytes == 0, large[0]), Error);
  EXPECT_THROW(bytes.clone().masked_fill_(bytes == 0, large[0]), Error);
  EXPECT_THROW(index_copy(bytes, 0, at, tensor({-1})), Error);
  EXPECT_EQ(numbers(scatter_add(bytes, 0, at, tensor({255}))), Numbers({255, 0, 0}));
}

TEST(Functions, SumWhatIsScatteredToOnePlaceWithItsDigits) {
  constexpr int64_t kCount = 1 << 20;
  const Tensor at = ones({kCount}, i32), values = full({1}, 0.1).expand({kCount}), start = zeros({2});
  const double value = double{0.1f};
  EXPECT_NEAR(scatter_add(start, 0, at, values)[1].item<double>(), value * kCount, 0.02);
  EXPECT_NEAR(start.clone().scatter_add_(0, at, values)[1].item<double>(), value * kCount, 0.02);
  EXPECT_NEAR(scatter_reduce(start, 0, at, values, "mean", false)[1].item<double>(), value, 1e-8);
  EXPECT_NEAR(bincount(at, values)[1].item<double>(), value * kCount, 0.02);
  for (const int64_t axis : {0, 1}) {  // as a row and as a column
    const Tensor sum = scatter_add(start.unsqueeze(axis), 1 - axis, at.unsqueeze(axis), values.unsqueeze(axis));
    EXPECT_NEAR(sum.flatten()[1].item<double>(), value * kCount, 0.02) << axis;
  }
  constexpr int64_t kFew = 1 << 17;  // columns that stay in the cache
  const Tensor columns = scatter_add(zeros({2, 3}), 0, ones({kFew, 1}, i64).expand({kFew, 3}), full({kFew, 3}, 0.1));
  for (const int64_t column : {0, 2}) EXPECT_NEAR(columns[1][column].item<double>(), value * kFew, 0.002);
}

TEST(Functions, RankQuantilesInTheDtypeOfQ) {
  const Tensor x = arange(11).to(f32);
  EXPECT_EQ(numbers(quantile(x, tensor({0.1, 0.7}), {.mode = QuantileMode::lower})), Numbers({1, 7}));
  // 0.29 of 100 steps is 28.999999999999996 in f64.
  EXPECT_EQ(quantile(arange(101).to(f32), 0.29, {.mode = QuantileMode::lower}).item(), 29);
  EXPECT_EQ(quantile(arange(101).to(f64), 0.29, {.mode = QuantileMode::lower}).item(), 28);
  EXPECT_EQ(quantile(tensor({1000.0, 1002.0, 1004.0}, f16), 0.25).item(), 1001);
}

TEST(Functions, HistcOfAnEmptyRangeTakesThatOfTheValues) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  for (const double edge : {0.0, 3.0, 7.0}) EXPECT_EQ(numbers(histc(x, 3, edge, edge)), Numbers({1, 1, 1})) << edge;
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(histc(x, 3, infinity, infinity), Error);
}

TEST(Functions, ScatteredMeansOfF64OfMoreThanF32Counts) {
  const int64_t n = (int64_t{1} << 24) + 4096;
  const Tensor index = zeros({1}, i64).expand({n}), ones_of_f64 = ones({1}, f64).expand({n});
  EXPECT_EQ(numbers(scatter_reduce(zeros({2}, f64), 0, index, ones_of_f64, "mean", false)), Numbers({1, 0}));
}

TEST(Functions, IntegrateNarrowIntegersWithoutWrapping) {
  const Tensor y = full({3}, 200, u8), x = tensor({0, 1, 3});
  EXPECT_EQ(numbers(trapezoid(y)), Numbers({400}));
  EXPECT_EQ(numbers(trapezoid(y, x)), Numbers({600}));
  EXPECT_EQ(numbers(cumulative_trapezoid(y)), Numbers({200, 400}));
  EXPECT_EQ(numbers(cumulative_trapezoid(y, x)), Numbers({200, 600}));
}

TEST(Functions, HistogramsCompareInTheirEdgesDtype) {
  const double top = 1 + 0x1p-40;  // beyond f32
  EXPECT_EQ(numbers(histogram(tensor({0.5f, 1.f}), tensor({0.0, 1.0, top}, f64)).hist), Numbers({1, 1}));
  EXPECT_EQ(numbers(histogram(tensor({1.f}), tensor({0.0, 1 - 0x1p-40}, f64)).hist), Numbers({0}));
  EXPECT_EQ(numbers(histc(full({4}, 0.25, bf16), 4, 0, 1)), Numbers({0, 4, 0, 0}));
}

TEST(Functions, RmsNormOf16BitsTakesTheEpsilonOfF32) {
  const Tensor x = full({1, 4}, 0x1p-6, bf16);
  EXPECT_TRUE(allclose(rms_norm(x, {4}).to(f32), ones({1, 4}), {.atol = 1e-2}));
}

TEST(Functions, NormalizeARowOfZerosInAnyDtype) {
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const Tensor zero = zeros({1, 4}, dtype), x = ones({1, 4}, dtype);
    EXPECT_EQ(numbers(normalize(zero)), Numbers(4)) << dtype;
    EXPECT_EQ(numbers(cosine_similarity(zero, x)), Numbers(1)) << dtype;
  }
}

TEST(Functions, CosineSimilarityCastsIntegersToTheOthersDtype) {
  const Tensor whole = tensor({{3, 4}}), x = tensor({{4.f, 3.f}});
  EXPECT_EQ(cosine_similarity(whole.to(i8), x).dtype(), f32);
  EXPECT_NEAR(cosine_similarity(x.to(f64), whole).item<double>(), 0.96, 1e-12);
  EXPECT_THROW(cosine_similarity(whole, whole), DtypeError);
}

TEST(Functions, SquareWhatF16HoldsWithoutLosingIt) {
  const Tensor x = full({1, 1, 2, 2}, 300, f16);
  EXPECT_EQ(lp_pool2d(x, 2, {.kernel_size = 2}).item<double>(), 600);
  EXPECT_EQ(lp_pool2d(x, 2, {.kernel_size = 2}).dtype(), f16);
  const Tensor y = local_response_norm(x, {.size = 1, .alpha = 1, .beta = 0.5, .k = 0});
  EXPECT_EQ(y.dtype(), f16);
  EXPECT_EQ(numbers(y), (Numbers{1, 1, 1, 1}));
}

TEST(Functions, UnpoolsIn16BitsWithoutASumThatOverflows) {
  const Tensor x = full({1, 1, 4}, 60000, f16);
  EXPECT_EQ(max_unpool1d(x, zeros({1, 1, 4}, i64), {.kernel_size = 2})[0][0][0].item<float>(),
            x[0][0][0].item<float>());
}

TEST(Functions, DrawWithinTheirBounds) {
  Generator generator(3);
  for (const DType dtype : {bf16, f16}) {
    const Tensor u = zeros({20000}, dtype).uniform_(1, 2, generator);
    EXPECT_TRUE(all(logical_and(u >= 1, u < 2)).item<bool>());
    EXPECT_TRUE(all(zeros({20000}, dtype).exponential_(1, generator) > 0).item<bool>());
    // A probability below one step of 16 bits.
    const Tensor drawn = bernoulli(full({200000}, 1e-4, dtype), generator);
    EXPECT_LT(sum(drawn.to(f32)).item(), 60);
  }
  EXPECT_THROW(zeros({2}).uniform_(-std::numeric_limits<double>::infinity(), 0), Error);
  EXPECT_EQ(error_of([] { randint(0, 100000, {3}, f16); }),
            "randint(): the value 99999 does not fit into f16, which holds -65504 to 65504");
  EXPECT_EQ(error_of([] {
              weft::normal(zeros({2}), tensor({-1.0, 1.0}));
            }),
            "normal([2] f32, [2] f32): the standard deviation -1 must be 0 or more");
  // 999 would be rounded up to the end, and 2^24 + 1 to 2^24 + 2.
  EXPECT_EQ(max(randint(0, 1000, {20000}, generator, bf16)).item<double>(), 996);
  EXPECT_EQ(min(randint(1001, 1010, {2000}, generator, bf16)).item<double>(), 1004);
  EXPECT_EQ(max(randint((1 << 24) - 1, (1 << 24) + 2, {100}, generator, f32)).item<double>(), 1 << 24);
  const Tensor dice = randint_like(zeros({1000}, i8), 1, 7, generator);
  EXPECT_EQ(dice.dtype(), i8);
  EXPECT_TRUE(all(logical_and(dice >= 1, dice <= 6)).item<bool>());
  const Tensor below = randint_like(zeros({1000}, i8), 6);
  EXPECT_EQ(below.dtype(), i8);
  EXPECT_TRUE(all(logical_and(below >= 0, below < 6)).item<bool>());
}

// ---- by the names of NumPy and PyTorch ----

TEST(Functions, StackAndSplitByName) {
  const Tensor a = tensor({1, 2}), b = tensor({3, 4}), cube = arange(8).view({2, 2, 2});
  EXPECT_EQ(column_stack({a, b}).shape(), Shape({2, 2}));
  EXPECT_EQ(numbers(column_stack({a, b})), Numbers({1, 3, 2, 4}));
  EXPECT_EQ(column_stack({a, ones({2, 3}, i64)}).shape(), Shape({2, 4}));
  EXPECT_EQ(dstack({a, b}).shape(), Shape({1, 2, 2}));
  EXPECT_EQ(numbers(dstack({a, b})), Numbers({1, 3, 2, 4}));
  EXPECT_EQ(numbers(hsplit(arange(4), 2)[1]), Numbers({2, 3}));
  EXPECT_EQ(numbers(hsplit(cube, 2)[1]), Numbers({2, 3, 6, 7}));
  EXPECT_EQ(numbers(vsplit(cube, IntList{1})[1]), Numbers({4, 5, 6, 7}));
  EXPECT_EQ(numbers(dsplit(cube, 2)[0]), Numbers({0, 2, 4, 6}));
  EXPECT_EQ(error_of([] {
              hsplit(ones({2, 4}), 3);
            }),
            "hsplit([2, 4] f32): axis 1 of size 4 does not divide into 3 pieces");
  EXPECT_THROW(vsplit(ones({4}), 2), ShapeError);
}

TEST(Functions, MoveAndBroadcastByName) {
  const Tensor x = arange(6).view({1, 2, 3});
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), Shape({2, 3, 1}));
  EXPECT_EQ(moveaxis(x, {0, 1}, {1, 0}).shape(), Shape({2, 1, 3}));
  EXPECT_EQ(ravel(x).shape(), Shape({6}));
  EXPECT_EQ(x.ravel().shape(), Shape({6}));
  EXPECT_EQ(broadcast_to(x, {4, 2, 3}).shape(), Shape({4, 2, 3}));
  const std::vector<Tensor> both = broadcast_tensors({ones({2, 1}), ones({3})});
  EXPECT_EQ(both[0].shape(), Shape({2, 3}));
  EXPECT_EQ(both[1].shape(), Shape({2, 3}));
  const std::vector<Tensor> places = unravel_index(tensor({5, 3}), {2, 3});
  EXPECT_EQ(numbers(places[0]), Numbers({1, 1}));
  EXPECT_EQ(numbers(places[1]), Numbers({2, 0}));
  EXPECT_THROW(unravel_index(tensor({6}), {2, 3}), IndexError);
}

TEST(Functions, ProductsByName) {
  EXPECT_EQ(numbers(vecdot(ones({2, 3}), tensor({1.0, 2.0, 3.0}))), Numbers({6, 6}));
  EXPECT_EQ(numbers(addr(ones({2, 2}), tensor({1.0, 2.0}), tensor({3.0, 4.0}), 2, 1)), Numbers({5, 6, 8, 10}));
  const Tensor shorter = renorm(tensor({{3.0, 4.0}, {1.0, 0.0}}), 2, 0, 1);
  EXPECT_TRUE(allclose(shorter, tensor({{0.6, 0.8}, {1.0, 0.0}})));
  EXPECT_THROW(renorm(ones({3}), 2, 0, 1), ShapeError);
}

/// Reductions of each segment, one after the other.
Tensor by_segment(const Tensor& x, const std::string& reduce, const std::vector<int64_t>& lengths, int64_t axis) {
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const int64_t length : lengths) {
    const Tensor part = slice(x, axis, at, at + length);
    at += length;
    out.push_back(reduce == "sum"    ? sum(part, {axis}, true)
                  : reduce == "prod" ? prod(part, {axis}, true)
                  : reduce == "max"  ? max(part, {axis}, true)
                                     : min(part, {axis}, true));
  }
  return cat(out, axis);
}

// Short, long and equal segments, along and across memory, forward and backward, at any number of threads.
TEST(Functions, ReduceSegmentsAsTheyReduceEach) {
  const int threads = num_threads();
  const std::vector<int64_t> lengths = {2049, 3, 3, 3, 1, 70, 2048, 9000};
  const int64_t size = 13177;
  Generator generator(1);
  for (const int64_t width : {1, 3, 40}) {
    const Tensor x = rand({size, width}, generator) * 0.1 + 0.95, wide = repeat_interleave(x, 2, 1);
    for (const Tensor& y : {x, flip(x, {0}), transpose(contiguous(transpose(x, 0, 1)), 0, 1), slice(wide, 1, 0, 9, 2),
                            expand(slice(x, 1, 0, 1), {size, 5})})
      for (const std::string reduce : {"sum", "prod", "max", "min"}) {
        set_num_threads(1);
        const Tensor one = segment_reduce(y, reduce, tensor(lengths));
        set_num_threads(4);
        EXPECT_TRUE(equal(segment_reduce(y, reduce, tensor(lengths)), one)) << reduce;
        EXPECT_TRUE(allclose(one, by_segment(y, reduce, lengths, 0), 1e-6)) << reduce << " of " << y.shape();
        const Tensor across = segment_reduce(transpose(y, 0, 1), reduce, tensor(lengths), 1);
        EXPECT_TRUE(allclose(transpose(across, 0, 1), one, 1e-6)) << reduce << " of " << y.shape();
      }
  }
  set_num_threads(threads);
}

// Their first byte may lie anywhere: a row of two numbers is not aligned as one of twice the size.
TEST(Functions, RepeatSlicesOfAnySize) {
  const Tensor counts = tensor({2, 0, 3, 1}), places = tensor({0, 0, 2, 2, 2, 3});
  for (const DType dtype : {u8, bf16, f32, f64})
    for (const int64_t width : {1, 2, 3, 5, 16, 17, 40, 300}) {
      const Tensor x = cast(arange(8 * width + 1), dtype).slice(0, 1, 8 * width + 1).view({2, 4, width});
      EXPECT_TRUE(equal(repeat_interleave(x, counts, 1), index_select(x, 1, places))) << width;
      const Tensor turned = transpose(x, 1, 2);
      EXPECT_TRUE(equal(repeat_interleave(turned, counts, 2), index_select(turned, 2, places))) << width;
    }
}

// Bytes in tables of counts, in parts for threads; and one that is too large for the row.
TEST(Functions, CountManyBytes) {
  const Tensor bytes = cast(arange(100000) % 251, u8), counts = bincount(bytes, {}, 300);
  EXPECT_TRUE(equal(counts, bincount(cast(bytes, i64), {}, 300)));
  EXPECT_TRUE(equal(bincount(slice(bytes, 0, 0, 100000, 3)), bincount(cast(slice(bytes, 0, 0, 100000, 3), i64))));
  const Tensor zero = zeros({250}, i32), one = expand(ones({1}, i32), {100000});
  EXPECT_EQ(error_of([&] { scatter_add(zero, 0, bytes, one); }),
            "scatter_add([250] i32, [100000] u8, [100000] i32): index 250 is out of range for an axis of size 250");
}

}  // namespace
}  // namespace weft
