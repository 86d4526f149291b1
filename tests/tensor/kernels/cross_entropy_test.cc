// Cross entropy by rows against a naive one in double: weights, label smoothing, ignored targets, bad targets.
#include "tensor/ops/cross_entropy.h"

#include "tests/reference/cross_entropy.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

void check(const Shape& shape, DType dtype, DType index, Layout layout, bool weighted,
           const op::CrossEntropyRows& options, Random& random, Layout result = Layout::permuted) {
  const int64_t axis = 1, classes = shape[1];
  Shape rows = shape;
  rows.erase(static_cast<size_t>(axis));
  AnyArray z = random_values(shape, dtype, layout, random, 2), targets(rows, index, Layout::permuted, random);
  targets.fill([&] {
    return static_cast<double>(options.ignore_index < classes && pick(random, 0, 4) == 0
                                   ? options.ignore_index
                                   : pick(random, 0, classes - 1));
  });
  AnyArray weight({classes}, dtype, Layout::gaps, random), dz(shape, dtype, result, random);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  weight.fill([&] { return uniform(random); });
  const DType out = dtype == f64 ? f64 : f32;
  AnyArray loss(rows, out, Layout::permuted, random), count(rows, out, Layout::gaps, random);
  AnyArray scale = random_values(rows, out, Layout::broadcast, random);
  const Operand weights = weighted ? weight.operand() : Operand();
  op::CrossEntropy{options}.cpu(z.operand(), targets.operand(), weights, loss.operand(), count.operand());
  op::CrossEntropyBackward{options}.cpu(scale.operand(), z.operand(), targets.operand(), weights, dz.operand());
  const reference::Array logits = values_of(z), labels = values_of(targets), factors = values_of(scale);
  reference::Array losses = reference::zeros(rows), counts = losses, gradients = reference::zeros(shape);
  const reference::Row w = weighted ? values_of(weight).values : reference::Row(static_cast<size_t>(classes), 1.0);
  for (const reference::Index& row : reference::indices_of(rows)) {
    reference::Index at = row;
    at.insert(at.begin() + axis, 0);
    const reference::CrossEntropy want =
        reference::cross_entropy(reference::row_at(logits, at, axis), static_cast<int64_t>(labels.at(row)), w,
                                 {options.ignore_index, options.label_smoothing});
    losses.at(row) = want.loss();
    counts.at(row) = want.weight;
    for (const double slope : want.gradient()) gradients.at(at) = factors.at(row) * slope, ++at[axis];
  }
  const std::string what = describe(z) + text(weighted ? " weighted" : "", " smoothing ", options.label_smoothing);
  expect_all_close(loss, losses, 4, 4, "loss " + what);
  expect_all_close(count, counts, 1, 0, "count " + what);
  expect_all_close(dz, gradients, 8, 8, "gradient " + what);
}

TEST(CrossEntropy, AgreesWithNaiveLoops) {
  Random random(61);
  const DType indices[] = {i64, i32, u8};
  for (int i = 0; i < property_cases(200); ++i) {
    Shape shape;
    const int64_t rank = pick(random, 2, 4);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 8));
    shape[1] += pick(random, 0, 1) * 20;
    op::CrossEntropyRows options;
    if (i % 3 == 0) options.label_smoothing = 0.1;
    if (i % 2 == 0) options.ignore_index = 0;
    check(shape, kFloatingDtypes[pick(random, 0, 3)], indices[i % 3], kAllLayouts[pick(random, 0, 4)],
          pick(random, 0, 1) == 0, options, random);
    if (HasFailure()) break;
  }
}

TEST(CrossEntropy, RowsSideBySide) {
  Random random(62);
  for (const DType dtype : {f32, f64, bf16})
    for (const Shape& shape : {Shape{2, 21, 37}, Shape{1, 3, 16}, Shape{2, 130, 5, 7}})
      for (const int64_t ignored : {-100, 0})
        check(shape, dtype, i64, Layout::row_major, ignored == 0, {.ignore_index = ignored}, random, Layout::row_major);
}

TEST(CrossEntropy, ImprobableTargetsHaveFiniteLosses) {
  Array<float> z{{0, 1e4f, -1e4f}, View::contiguous({1, 3})}, loss{{0}, View::contiguous({1})}, dz = z, count = loss;
  Array<int64_t> target{{2}, View::contiguous({1})};
  Array<float> one{{1}, View::contiguous({1})};
  op::CrossEntropy{}.cpu(z.operand(), target.operand(), {}, loss.operand(), count.operand());
  EXPECT_EQ(loss.memory[0], 2e4f);
  op::CrossEntropyBackward{}.cpu(one.operand(), z.operand(), target.operand(), {}, dz.operand());
  EXPECT_EQ(dz.memory, (std::vector<float>{0, 1, -1}));
  target.memory = {1};
  op::CrossEntropy{}.cpu(z.operand(), target.operand(), {}, loss.operand(), count.operand());
  EXPECT_EQ(loss.memory[0], 0);
}

std::string error_of(std::vector<int64_t> labels) {
  const int64_t count = static_cast<int64_t>(labels.size());
  Array<float> z{std::vector<float>(labels.size() * 3), View::contiguous({count, 3})};
  Array<float> loss{std::vector<float>(labels.size(), 7), View::contiguous({count})}, counts = loss;
  Array<int64_t> targets{std::move(labels), View::contiguous({count})};
  try {
    op::CrossEntropy{}.cpu(z.operand(), targets.operand(), {}, loss.operand(), counts.operand());
  } catch (const IndexError& error) {
    EXPECT_EQ(loss.memory, std::vector<float>(loss.memory.size(), 7));  // nothing was written
    return error.what();
  }
  return "no error";
}

TEST(CrossEntropy, NamesTheFirstBadTarget) {
  EXPECT_EQ(error_of({0, 2, 3, -1}), "class 3 is out of range for 3 classes");
  EXPECT_EQ(error_of({0, -1, 3}), "class -1 is out of range for 3 classes");
  EXPECT_EQ(error_of({0, -100, 2}), "no error");
  std::vector<int64_t> many(100000, 1);
  many[99000] = 5;
  many[99999] = 6;
  EXPECT_EQ(error_of(many), "class 5 is out of range for 3 classes");
}

TEST(CrossEntropy, SameBitsForAnyNumberOfThreads) {
  Random random(62);
  AnyArray z = random_values({3000, 40}, f32, Layout::row_major, random), dz = z;
  AnyArray targets({3000}, i64, Layout::row_major, random), loss({3000}, f32, Layout::row_major, random), scale = loss,
                                                                                                          count = loss;
  targets.fill([&] { return static_cast<double>(pick(random, 0, 39)); });
  scale.fill([] { return 1.0 / 3000; });
  expect_same_bits_for_threads([&] {
    op::CrossEntropy{}.cpu(z.operand(), targets.operand(), {}, loss.operand(), count.operand());
    op::CrossEntropyBackward{}.cpu(scale.operand(), z.operand(), targets.operand(), {}, dz.operand());
    return std::vector{loss.memory, dz.memory};
  });
}

}  // namespace
}  // namespace weft::testing
