// Training that is stopped in the middle of an epoch and goes on with another number of ranks; resume_test.sh starts
// it.
//
//   resume first CHECKPOINT           a batch of 8 on all ranks together: some steps, then a checkpoint
//   resume second CHECKPOINT OUT      goes on from there and writes the parameters
//   resume reference R S OUT          one process that adds up, as R ranks and then as S would have done
#include <cstdio>
#include <cstdlib>
#include <string>

#include "distributed/distributed.h"
#include "io/safetensors.h"
#include "weft.h"

using namespace weft;

namespace {

constexpr int64_t kBatch = 8, kExamples = 48, kStop = 4, kSteps = 15;

struct Net : nn::Module {
  nn::Linear first = register_module("first", nn::Linear(6, 16)), second = register_module("second", nn::Linear(16, 3));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.3));
  Tensor forward(const Tensor& x) { return second(dropout(first(x).relu())); }
};

data::TensorDataset<2> examples() {
  Generator generator(3);
  const Tensor x = randn({kExamples, 6}, generator);
  return data::TensorDataset<2>(x, randint(0, 3, {kExamples}, generator));
}

/// Calls step(x, y) from where the loader stands until `end` steps were made, of which `made` are done.
template <class Loader, class Step> void train(Loader& loader, int64_t& made, int64_t end, const Step& step) {
  while (made < end)
    for (const auto& [x, y] : loader) {
      step(x, y);
      if (++made == end) return;
    }
}

void run(bool goes_on, const std::string& path, const std::string& out) {
  const auto group = distributed::init();
  manual_seed(5);
  Net net;
  distributed::DataParallel parallel(net, group);
  optim::Adam optimizer(net.parameters(), {.lr = 1e-2});
  distributed::shard(optimizer, group);
  data::DataLoader loader(
      examples(), {.batch_size = kBatch / group.size(), .sampler = data::distributed(group, {.shuffle = true})});
  const io::CheckpointParts parts = {.model = &net, .optimizer = &optimizer, .loader = &loader};
  int64_t made = 0;
  if (goes_on) io::load_checkpoint(path, parts), made = kStop;
  train(loader, made, goes_on ? kSteps : kStop, [&](const Tensor& x, const Tensor& y) {
    const Tensor loss = nn::cross_entropy(parallel(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (!goes_on && made + 1 == kStop) distributed::save_checkpoint(group, path, parts);
  });
  if (goes_on && group.rank() == 0) io::save_safetensors(out, net.state_dict());
}

void run_reference(int64_t before, int64_t after, const std::string& out) {
  manual_seed(5);
  Net net;
  optim::Adam optimizer(net.parameters(), {.lr = 1e-2});
  data::DataLoader loader(examples(), {.batch_size = kBatch, .sampler = data::distributed(0, 1, {.shuffle = true})});
  int64_t made = 0;
  train(loader, made, kSteps, [&](const Tensor& x, const Tensor& y) {
    const int64_t ranks = made < kStop ? before : after, share = kBatch / ranks;
    optimizer.zero_grad();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const distributed::RankRandomScope random(0, 1, share);
      const Tensor part = x.narrow(0, rank * share, share), labels = y.narrow(0, rank * share, share);
      (nn::cross_entropy(net.forward(part), labels) / static_cast<double>(ranks)).backward();
    }
    optimizer.step();
  });
  io::save_safetensors(out, net.state_dict());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  set_num_threads(1);
  if (way == "first" && argc == 3) return run(false, argv[2], ""), EXIT_SUCCESS;
  if (way == "second" && argc == 4) return run(true, argv[2], argv[3]), EXIT_SUCCESS;
  if (way == "reference" && argc == 5)
    return run_reference(std::atoi(argv[2]), std::atoi(argv[3]), argv[4]), EXIT_SUCCESS;
  std::fprintf(stderr, "error: see the head of this file\n");
  return EXIT_FAILURE;
}
