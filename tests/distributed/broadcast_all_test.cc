// A broadcast of many tensors: the values of one by one, and the errors of one.
#include "distributed/broadcast_all.h"

#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

/// What `rank` holds: different on each, in every dtype.
Tensor values(int64_t rank, const Tensor& like) {
  return ((arange(like.numel()) * 3 + rank * 5) % 11).reshape(like.shape()).to(like.dtype());
}

TEST(BroadcastAll, IsThatOfEach) {
  const auto& g = group();
  std::vector<Tensor> tensors;
  for (const DType dtype : {f32, f64, bf16, i64, u8, boolean}) {
    tensors.push_back(zeros({2, 3, 4}, dtype));
    tensors.push_back(zeros({2, 3, 4}, dtype).permute({2, 0, 1}));
    tensors.push_back(zeros({2, 3, 8}, dtype).slice(2, 1, 8, 2));
    tensors.push_back(zeros({}, dtype));
  }
  for (const int64_t n : {0, 1, 16383, 16384, 50000}) tensors.push_back(zeros({n}));  // about 64 KB in the middle
  for (int i = 0; i < 120; ++i) tensors.push_back(zeros({15000}));                    // more than travel together
  std::vector<Tensor> alone;
  std::vector<int64_t> roots;
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].copy_(values(g.rank() + static_cast<int64_t>(i), tensors[i]));
    alone.push_back(tensors[i].clone());
    roots.push_back(static_cast<int64_t>(i * i) % g.size());
  }
  distributed::broadcast_all(g, tensors, roots);
  for (size_t i = 0; i < tensors.size(); ++i) {
    g.broadcast(alone[i], roots[i]);
    EXPECT_TRUE(equal(tensors[i], alone[i])) << i << ", " << tensors[i].shape() << " " << tensors[i].dtype();
  }
}

TEST(BroadcastAll, Writes) {
  const auto& g = group();
  const Tensor w = parameter(ones({2})), y = w.exp();
  EXPECT_THROW(distributed::broadcast_all(g, {zeros({2}), w}, {0, 0}), GradientError);
  distributed::broadcast_all(g, {y.detach(), zeros({2})}, {0, 0});
  EXPECT_THROW(y.sum().backward(), GradientError);  // exp kept its result, which was written
}

}  // namespace
}  // namespace weft::test
