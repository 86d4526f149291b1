// A training program in which rank 1 goes wrong in the way that the first argument names; fault_test.cc starts it. It
// ends with 0 only where nothing went wrong.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "distributed/distributed.h"
#include "weft.h"

using namespace weft;

namespace {

std::string way;
bool is_way(const char* name) { return way == name; }
[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

struct Net : nn::Module {
  nn::Linear first, second;
  explicit Net(int64_t width)
      : first(register_module("first", nn::Linear(16, width))),
        second(register_module("second", nn::Linear(width, 4))) {}
  Tensor forward(const Tensor& x) { return second(first(x).relu()); }
};

/// What goes wrong on rank 1 before step 3 of 6.
void go_wrong(const distributed::Group& group, Net& net) {
  if (is_way("die_forward")) die();
  if (is_way("exit")) std::exit(0);
  if (is_way("leave")) throw IoError("the data is gone");
  if (is_way("stop")) kill(getpid(), SIGSTOP);
  if (is_way("hang"))
    for (;;) pause();
  if (is_way("shape")) group.all_reduce(zeros({3, 2}));
  if (is_way("call")) group.broadcast(zeros({3}), 1);
  if (is_way("more_calls")) group.barrier();
  if (is_way("die_backward")) net.first.weight().register_hook([](const Tensor&) { die(); });
  if (is_way("throw_backward"))
    net.first.weight().register_hook([](const Tensor&) { throw Error("a hook that fails"); });
  if (is_way("die_collective")) {
    std::thread([] { usleep(3000), die(); }).detach();
    Tensor x = zeros({1 << 20});
    for (;;) group.all_reduce(x);
  }
}

int train(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  auto group = distributed::init({.timeout = 4});
  const bool wrong = group.rank() == 1;
  manual_seed(wrong && is_way("seed") ? 6 : 5);
  Net net(wrong && is_way("model") ? 9 : 8);
  distributed::DataParallel parallel(net, group);
  optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  for (int step = 0; step < 6; ++step) {
    if (wrong && step == 3) go_wrong(group, net);
    if (!wrong && step == 3 && (is_way("shape") || is_way("call"))) group.all_reduce(zeros({3}));
    if (!wrong && step == 3 && is_way("die_collective")) {
      Tensor x = zeros({1 << 20});
      for (;;) group.all_reduce(x);
    }
    const Tensor loss = parallel(ones({2, 16})).square().sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (!path.empty() && wrong) {  // this rank writes, and dies while it does
      if (step == 3) std::thread([] { usleep(2000), die(); }).detach();
      for (int i = 0; i < (step == 3 ? 1000000 : 1); ++i)
        io::save_checkpoint(path, {.model = &net, .optimizer = &optimizer});
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
