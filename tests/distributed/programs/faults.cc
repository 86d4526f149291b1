// A training program in which rank 1 goes wrong in the way that the first argument names; fault_test.cc starts it. It
// ends with 0 only where nothing went wrong.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "distributed/distributed.h"
#include "distributed/mpi/library.h"
#include "tests/failing_allocations.h"
#include "weft.h"

using namespace weft;

namespace {

std::string way;
bool is_way(const char* name) { return way == name; }
std::optional<test::FailingAllocation> no_memory;  // until main has caught the error
Tensor kept;                                       // a gradient that lives until the program has ended
/// Microseconds that fault_test chooses anew for each round, so that what happens does not always happen at one place.
unsigned delay() {
  const char* given = std::getenv("WEFT_FAULT_DELAY");
  return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 0;
}
[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}
void die_later(unsigned microseconds) {
  std::thread([=] { usleep(microseconds), die(); }).detach();
}

/// Whether calls of a fork of a rank are refused, so that it does not exchange what the rank should.
bool child_is_refused(const distributed::Group& group) {
  const auto is_refused = [](const auto& call) {
    try {
      call();
      return false;
    } catch (const distributed::DistributedError&) {
      return true;
    }
  };
  return is_refused([&] { group.all_reduce(ones({2})); }) && is_refused([&] { group.send(ones({2}), 0); }) &&
         is_refused([] { (void)distributed::init(); });
}

/// Children that leave by exit() and by the end of their main function, and one that SIGTERM ends: none is this rank's
/// end. Whether this is the second of them.
bool fork_children(const distributed::Group& group) {
  if (const pid_t child = fork(); child == 0) {
    _exit(child_is_refused(group) ? 0 : 1);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) throw Error("a fork of a rank takes part in the group's calls");
  }
  if (const pid_t child = fork(); child == 0)
    std::exit(0);
  else
    waitpid(child, nullptr, 0);
  if (const pid_t child = fork(); child == 0)
    return true;
  else
    waitpid(child, nullptr, 0);
  const pid_t sleeper = fork();
  if (sleeper == 0)
    for (;;) pause();
  kill(sleeper, SIGTERM);
  int status = 0;
  waitpid(sleeper, &status, 0);
  if (!WIFSIGNALED(status)) throw Error("SIGTERM did not end the child");
  return false;
}

/// All ranks wait in one call for longer than ranks may wait in different ones: rank 1's main thread is held up.
void be_slow(const distributed::Group& group) {
  if (group.rank() == 1) {
    signal(SIGALRM, [](int) { usleep(3'200'000); });
    const itimerval soon = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 300'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
  }
  Tensor x = ones({1 << 20});
  if (group.rank() == 0) usleep(800'000);
  group.all_reduce_async(x).wait();
}

/// All ranks are suspended for longer than one alone may be, and than one may keep others waiting, and go on.
void be_suspended(const distributed::Group& group) {
  group.barrier();
  const pid_t own = getpid(), child = fork();
  if (child == 0) {
    usleep(500'000);
    kill(own, SIGSTOP);
    usleep(12'000'000);
    kill(own, SIGCONT);
    _exit(0);
  }
  // One computes meanwhile, and for a second more; the others wait for it.
  for (int i = 0; group.rank() == 1 && i < 15; ++i) usleep(100'000);
  group.barrier();
  waitpid(child, nullptr, 0);
}

/// Runs call() with its nth allocation failing, and says whether it threw.
template <class Call> bool lacks_memory(int64_t nth, const Call& call) {
  const test::FailingAllocation failing(nth, test::FailingAllocation::Where::here);
  try {
    call();
  } catch (const MemoryError&) {
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

/// Asynchronous sums of two stages; one rank finds no memory at one allocation after the other, from the first or from
/// the last on, and repeats what failed. It gets the sum, or the group ends with an error.
void sum_with_failures(const distributed::Group& group, bool fails, bool from_last) {
  for (int64_t i = 1; i < 200; ++i) {
    const int64_t nth = from_last ? 200 - i : i;
    Tensor x = ones({5000});
    distributed::Work work;
    bool begun = false;
    const auto begin = [&] { work = group.all_reduce_async(x), begun = true; };
    const auto begin_and_wait = [&] { begin(), work.wait(); };
    if (fails) lacks_memory(nth, begin_and_wait);
    if (!begun) begin();
    work.wait();
    if (!equal(x, full({5000}, static_cast<double>(group.size())))) throw Error("a repeated sum is wrong");
  }
}

/// The same of tensors that one rank sends, and repeats the call.
void send_with_failures(const distributed::Group& group, bool fails) {
  for (int64_t nth = 1; nth < 200; ++nth) {
    const Tensor x = full({1000}, fails ? static_cast<double>(nth) : 0.0);
    const auto send = [&] { group.send(x, 0); };
    if (fails && lacks_memory(nth, send)) send();
    if (group.rank() == 0) group.recv(x, 1);
    if (group.rank() == 0 && !equal(x, full({1000}, static_cast<double>(nth))))
      throw Error("a repeated message arrives wrong");
  }
}

struct Net : nn::Module {
  nn::Linear first, second;
  explicit Net(int64_t width)
      : first(register_module("first", nn::Linear(16, width))),
        second(register_module("second", nn::Linear(width, 4))) {}
  Tensor forward(const Tensor& x) { return second(first(x).relu()); }
};

/// A parameter of the same shape whose memory lies column by column.
struct Table : nn::Module {
  explicit Table(bool by_columns) {
    register_parameter("rows", by_columns ? ones({3, 2}).transpose(0, 1) : ones({2, 3}));
  }
};

/// What goes wrong on rank 1 before step 3 of 6; whether this process has nothing more to do.
bool go_wrong(const distributed::Group& group, Net& net) {
  if (is_way("die_forward")) usleep(delay()), die();
  if (is_way("exit")) std::exit(0);
  if (is_way("leave")) throw IoError("the data is gone");
  if (is_way("stop")) kill(getpid(), SIGSTOP);
  if (is_way("hang") || is_way("hang_at_a_barrier"))
    for (;;) pause();
  if (is_way("shape")) group.all_reduce(zeros({3, 2}));
  if (is_way("call")) group.broadcast(zeros({3}), 1);
  if (is_way("root")) (void)group.gather(zeros({3}), 1);
  if (is_way("rows")) (void)group.all_gather_rows(zeros({1, 4}));
  if (is_way("more_calls")) group.barrier();
  if (is_way("die_backward")) net.first.weight().register_hook([](const Tensor&) { usleep(delay()), die(); });
  if (is_way("die_bucket")) die_later(1000 + delay());
  if (is_way("fork")) return fork_children(group);
  if (is_way("throw_backward"))
    net.first.weight().register_hook([](const Tensor&) { throw Error("a hook that fails"); });
  if (is_way("no_memory"))
    net.first.weight().register_hook([](const Tensor&) {
      no_memory.emplace(1, test::FailingAllocation::Where::here_on);
      throw std::bad_alloc();
    });
  if (is_way("nested"))
    net.first.weight().register_hook([&net](const Tensor&) {
      const EnableGrad recording;
      net.second.weight().sum().backward();
    });
  if (is_way("die_collective")) {
    die_later(3000 + delay());
    Tensor x = zeros({1 << 20});
    for (;;) group.all_reduce(x);
  }
  return false;
}

int train(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  auto group = distributed::init({.timeout = 4});
  const bool wrong = group.rank() == 1;
  manual_seed(wrong && is_way("seed") ? 6 : 5);
  Net net(wrong && is_way("model") ? 9 : 8);
  Table table(wrong && is_way("memory_order"));
  if (is_way("memory_order")) (void)distributed::DataParallel(table, group);
  distributed::DataParallelOptions options;
  if (is_way("die_bucket") || is_way("nested")) options = {.bucket_bytes = 64, .first_bucket_bytes = 64};
  if (wrong && is_way("options")) options.wire = distributed::Wire::bf16;
  distributed::DataParallel parallel(net, group, options);
  optim::Adam optimizer(net.parameters(), {.lr = 0.1});
  const bool shards = is_way("die_shard_checkpoint");
  if (shards) distributed::shard(optimizer, group);
  if (is_way("slow")) be_slow(group);
  if (is_way("suspend")) be_suspended(group);
  if (is_way("long_barrier")) {  // longer than the group's timeout
    if (wrong) usleep(6'000'000);
    group.barrier(20);
  }
  if (is_way("no_memory_async") || is_way("no_memory_wait")) sum_with_failures(group, wrong, is_way("no_memory_wait"));
  if (is_way("no_memory_send")) send_with_failures(group, wrong);
  const int steps = is_way("die_bucket") ? 1'000'000 : 6;
  for (int step = 0; step < steps; ++step) {
    if (wrong && step == 3 && go_wrong(group, net)) return EXIT_SUCCESS;
    if (!wrong && step == 3 && (is_way("shape") || is_way("call"))) group.all_reduce(zeros({3}));
    if (!wrong && step == 3 && is_way("root")) (void)group.gather(zeros({3}), 0);
    if (!wrong && step == 3 && is_way("rows")) (void)group.all_gather_rows(zeros({2, 3}));
    if (!wrong && step == 3 && is_way("hang_at_a_barrier")) group.barrier(1);
    if (!wrong && step == 3 && is_way("die_collective")) {
      Tensor x = zeros({1 << 20});
      for (;;) group.all_reduce(x);
    }
    const Tensor loss = parallel(ones({wrong && step == 3 && is_way("samples") ? 3 : 2, 16})).square().sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (shards) {  // rank 0 writes what all have
      if (wrong && step == 3) die_later(2000 + delay());
      for (int i = 0; i < (step == 3 ? 1000000 : 1); ++i)
        distributed::save_checkpoint(group, path, {.model = &net, .optimizer = &optimizer});
    } else if (!path.empty() && wrong) {  // this rank writes, and dies while it does
      if (step == 3) die_later(2000 + delay());
      for (int i = 0; i < (step == 3 ? 1000000 : 1); ++i)
        io::save_checkpoint(path, {.model = &net, .optimizer = &optimizer});
    }
  }
  if (is_way("drop") && !wrong) (void)group.all_reduce_async(ones({3}));
  const bool ends_late = is_way("static") || is_way("exit_at_the_end");
  if (is_way("static")) kept = net.first.weight().grad();
  if (ends_late && wrong) usleep(300'000);  // the others wait for it, and look for what went wrong
  if (is_way("exit_at_the_end")) std::exit(EXIT_SUCCESS);
  return EXIT_SUCCESS;
}

/// A program that begins and ends MPI itself.
int train_with_own_mpi(int argc, char** argv) {
  const auto& mpi = distributed::MpiLibrary::open();
  int provided = 0, ended = 1;
  mpi.init_thread(nullptr, nullptr, 0, &provided);
  const int status = train(argc, argv);
  mpi.finalized(&ended);
  if (ended != 0) throw Error("the group has ended the program's MPI");
  mpi.finalize();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string(argv[1]) == "own_mpi") return train_with_own_mpi(argc, argv);
    return train(argc, argv);
  } catch (const std::exception& error) {
    no_memory.reset();
    std::fprintf(stderr, "error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
