// The bits of data-parallel training: R ranks leave the parameters that one process has which runs the ranks' batches
// one after the other and adds up gradients; with SyncBatchNorm, of one process with R replicas in lock step.
#include "autograd/function.h"
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

constexpr int64_t kSteps = 50, kBatch = 4;

/// What every model here is: built by the seed, with a loss of one micro-batch of random inputs.
struct Task {
  virtual ~Task() = default;
  virtual nn::Module& module() = 0;
  virtual Tensor loss(int64_t micro_batch) = 0;
};

Tensor inputs(int64_t micro_batch, const Shape& shape) {
  Generator generator(1000 + static_cast<uint64_t>(micro_batch));
  return randn(shape, generator);
}
Tensor labels(int64_t micro_batch, const Shape& shape, int64_t classes) {
  Generator generator(5000 + static_cast<uint64_t>(micro_batch));
  return randint(0, classes, shape, generator);
}

struct Mlp final : Task {
  nn::Sequential model{nn::Linear(20, 37), nn::ReLU(), nn::Dropout(0.2), nn::Linear(37, 5)};
  nn::Module& module() override { return model; }
  Tensor loss(int64_t m) override { return nn::cross_entropy(model(inputs(m, {kBatch, 20})), labels(m, {kBatch}, 5)); }
};

struct Cnn final : Task {
  struct Net : nn::Module {
    nn::Conv2d conv = register_module("conv", nn::Conv2d({.in_channels = 3, .out_channels = 8, .kernel_size = 3}));
    nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(8));
    nn::Linear head = register_module("head", nn::Linear(8 * 6 * 6, 4));
  } net;
  Cnn() { net.norm.eval(); }  // frozen statistics
  nn::Module& module() override { return net; }
  Tensor loss(int64_t m) override {
    const Tensor y = net.norm.forward_relu(net.conv(inputs(m, {kBatch, 3, 8, 8})));
    return nn::cross_entropy(net.head(y.flatten(1)), labels(m, {kBatch}, 4));
  }
};

struct Gpt final : Task {
  struct Net : nn::Module {
    nn::Embedding tokens = register_module("tokens", nn::Embedding(31, 16));
    nn::Dropout dropout = register_module("dropout", nn::Dropout(0.1));
    nn::TransformerEncoderLayer first = register_module("first", layer()), second = register_module("second", layer());
    nn::LayerNorm norm = register_module("norm", nn::LayerNorm(16));
    static nn::TransformerEncoderLayer layer() {
      return nn::TransformerEncoderLayer(
          {.d_model = 16, .nhead = 2, .dim_feedforward = 32, .dropout = 0.1, .norm_first = true});
    }
  } net;
  nn::Module& module() override { return net; }
  Tensor loss(int64_t m) override {
    const Tensor x = labels(m, {kBatch, 12}, 31);
    Tensor y = net.dropout(net.tokens(x));
    y = net.norm(net.second(net.first(y, {.causal = true}), {.causal = true}));
    const Tensor logits = matmul(y, net.tokens.weight().t());  // tied: the weight is used twice
    return nn::cross_entropy(logits.narrow(1, 0, 11).flatten(0, 1), x.narrow(1, 1, 11).flatten());
  }
};

/// The parameters after kSteps of one process with R micro-batches a step.
template <class T> std::vector<Tensor> train_alone(int64_t ranks) {
  manual_seed(7);
  T task;
  optim::AdamW optimizer(task.module().parameters(), {.lr = 1e-2});
  for (int64_t step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      Tensor loss;
      {
        const distributed::RankRandomScope random(0, 1, kBatch);
        loss = task.loss(step * ranks + rank);
      }
      (loss / static_cast<double>(ranks)).backward();
    }
    nn::clip_grad_norm(task.module().parameters(), 1.0);
    optimizer.step();
  }
  return task.module().parameters();
}

template <class T> std::vector<Tensor> train_together(const distributed::DataParallelOptions& options, bool shard) {
  const auto& g = group();
  manual_seed(7);
  T task;
  distributed::DataParallel parallel(task.module(), g, options);
  optim::AdamW optimizer(task.module().parameters(), {.lr = 1e-2});
  if (shard) distributed::shard(optimizer, g);
  for (int64_t step = 0; step < kSteps; ++step) {
    const Tensor loss = parallel.with(kBatch, [&](nn::Module&) { return task.loss(step * g.size() + g.rank()); });
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm(task.module().parameters(), 1.0);
    optimizer.step();
  }
  return task.module().parameters();
}

template <class T> void expect_same_bits(const distributed::DataParallelOptions& options = {}, bool shard = false) {
  set_num_threads(1);  // a chosen count: else the number of parts follows what the machine does beside
  const std::vector<Tensor> together = train_together<T>(options, shard), alone = train_alone<T>(group().size());
  ASSERT_EQ(together.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i)
    EXPECT_TRUE(equal(together[i], alone[i])) << alone[i].name() << " on rank " << group().rank();
}

TEST(Bits, Mlp) { expect_same_bits<Mlp>(); }
TEST(Bits, CnnWithFrozenBatchNorm) { expect_same_bits<Cnn>(); }
TEST(Bits, GptWithDropout) { expect_same_bits<Gpt>(); }
TEST(Bits, SmallBuckets) { expect_same_bits<Gpt>({.bucket_bytes = 2000, .first_bucket_bytes = 100}); }
TEST(Bits, ShardedOptimizer) { expect_same_bits<Gpt>({}, true); }

// ---- synchronized batch norm ----

struct SyncNet : nn::Module {
  nn::Conv2d conv = register_module("conv", nn::Conv2d({.in_channels = 3, .out_channels = 8, .kernel_size = 3}));
  distributed::SyncBatchNorm norm = register_module("norm", distributed::SyncBatchNorm({.num_features = 8}, group()));
  nn::Linear head = register_module("head", nn::Linear(8 * 6 * 6, 4));
};

Tensor loss_of(const SyncNet& net, const Tensor& normalized, int64_t m) {
  return nn::cross_entropy(net.head(normalized.relu().flatten(1)), labels(m, {kBatch}, 4));
}

/// Every replica gets the sum, and every gradient is the sum of the gradients, in the order of the replicas.
struct SumOfReplicas : autograd::Function<SumOfReplicas> {
  static std::vector<Tensor> sums(const std::vector<Tensor>& x) {
    std::vector<Tensor> out;
    for (size_t i = 0; i < x.size(); ++i) {
      out.push_back(x[0].clone());
      for (size_t rank = 1; rank < x.size(); ++rank) out[i] += x[rank];
    }
    return out;
  }
  static std::vector<Tensor> forward(autograd::Context&, const std::vector<Tensor>& x) { return sums(x); }
  static std::vector<Tensor> backward(autograd::Context&, const std::vector<Tensor>& gradients) {
    return sums(gradients);
  }
};

/// Batch norm of all replicas' x together, written down once more.
std::vector<Tensor> normalized_together(const std::vector<SyncNet>& nets, const std::vector<Tensor>& x) {
  const auto along = [](const Tensor& values) { return values.reshape({1, values.numel(), 1, 1}); };
  const size_t size = x.size();
  double count = 0;
  for (const Tensor& part : x) count += double(part.numel() / part.size(1));
  std::vector<Tensor> sums, centered, squares, out;
  for (const Tensor& part : x) sums.push_back(part.sum({0, 2, 3}));
  sums = SumOfReplicas::apply(sums);
  for (size_t i = 0; i < size; ++i) {
    centered.push_back(x[i] - along(sums[i] / count));
    squares.push_back(centered[i].square().sum({0, 2, 3}));
  }
  squares = SumOfReplicas::apply(squares);
  for (size_t i = 0; i < size; ++i) {
    const Tensor rstd = (squares[i] / count + 1e-5).rsqrt();
    out.push_back(centered[i] * along(rstd) * along(nets[i].norm.weight()) + along(nets[i].norm.bias()));
  }
  return out;
}

std::vector<Tensor> train_replicas(size_t size) {
  manual_seed(7);
  std::vector<SyncNet> nets(1);
  optim::AdamW optimizer(nets[0].parameters(), {.lr = 1e-2});
  while (nets.size() < size) nets.emplace_back();
  for (int64_t step = 0; step < kSteps; ++step) {
    std::vector<Tensor> x, losses;
    const auto batch = [&](size_t rank) { return step * static_cast<int64_t>(size) + static_cast<int64_t>(rank); };
    for (size_t rank = 0; rank < size; ++rank) {
      if (rank > 0) nets[rank].load_state_dict(nets[0].state_dict());
      nets[rank].zero_grad();
      x.push_back(nets[rank].conv(inputs(batch(rank), {kBatch, 3, 8, 8})));
    }
    x = normalized_together(nets, x);
    for (size_t rank = 0; rank < size; ++rank) losses.push_back(loss_of(nets[rank], x[rank], batch(rank)));
    backward(losses);
    const std::vector<Tensor> parameters = nets[0].parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      Tensor sum = parameters[i].grad();
      for (size_t rank = 1; rank < size; ++rank) sum += nets[rank].parameters()[i].grad();
      sum.mul_(1 / double(size));
    }
    nn::clip_grad_norm(parameters, 1.0);
    optimizer.step();
  }
  return nets[0].parameters();
}

TEST(Bits, CnnWithSynchronizedBatchNorm) {
  const auto& g = group();
  if (g.size() == 1) GTEST_SKIP() << "one rank's is nn's batch norm, which data_parallel_test compares";
  set_num_threads(1);
  manual_seed(7);
  SyncNet net;
  distributed::DataParallel parallel(net, g);
  optim::AdamW optimizer(net.parameters(), {.lr = 1e-2});
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t m = step * g.size() + g.rank();
    const Tensor loss = parallel.with(kBatch, [&](SyncNet& n) {
      return loss_of(n, n.norm(n.conv(inputs(m, {kBatch, 3, 8, 8}))), m);
    });
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm(net.parameters(), 1.0);
    optimizer.step();
  }
  const std::vector<Tensor> together = net.parameters(), alone = train_replicas(static_cast<size_t>(g.size()));
  for (size_t i = 0; i < alone.size(); ++i)
    EXPECT_TRUE(equal(together[i], alone[i])) << alone[i].name() << " on rank " << g.rank();
}

}  // namespace
}  // namespace weft::test
