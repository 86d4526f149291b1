// Rank 1 of 3 goes wrong: every other rank must end with an error that names it, soon, and files must stay whole.
// WEFT_FAULT_ROUNDS=50 runs every case so often.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

#include "distributed/launch.h"
#include "io/safetensors.h"
#include "tests/distributed/commands.h"

namespace weft::test {
namespace {

Outcome run(const std::string& arguments, const std::string& settings = "", const char* options = "") {
  return run_command(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "OMP_NUM_THREADS=1 " +
      settings + " mpirun " + options + " -n 3 " + built("faults ") + arguments);
}

int rounds() {
  const char* given = std::getenv("WEFT_FAULT_ROUNDS");
  return given != nullptr ? std::atoi(given) : 1;
}

/// Whether some line is the rank's own (`error: backward([] f32): rank 0: ...`) and names rank 1.
bool names(const std::string& output, int rank) {
  const std::string own = "rank " + std::to_string(rank) + ":";
  for (size_t at = output.find(own); at != std::string::npos; at = output.find(own, at + 1)) {
    const std::string line = output.substr(at + own.size(), output.find('\n', at) - at - own.size());
    if (line.find("rank 1") != std::string::npos) return true;
  }
  return false;
}

/// Whether the ranks exchange messages though they share memory.
enum class By { memory, messages };

/// The settings of a round: how data travels, and a delay of up to 20 ms that differs from round to round.
std::string settings_of(By by) {
  static std::mt19937 generator(std::random_device{}());
  return std::string(by == By::messages ? "WEFT_DISTRIBUTED_SHARED_MEMORY=0 " : "") +
         "WEFT_FAULT_DELAY=" + std::to_string(generator() % 20000);
}

class Faults : public testing::TestWithParam<std::tuple<const char*, By>> {
 protected:
  void SetUp() override {
    if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  }
};

/// Runs a fault and expects that the job ends, that a rank names the one at fault, and that both do where mpirun lets
/// them: as soon as one has ended it may take the other down before that has written its line. Recovery of mpirun keeps
/// the others alive, and its status is 0; a rank that is stopped would keep it waiting.
void expect_the_ranks_name(const std::string& arguments, By by) {
  const std::string settings = settings_of(by);
  Outcome outcome = run(arguments, settings);
  EXPECT_NE(outcome.status, 0) << outcome.output;
  EXPECT_LT(outcome.seconds, 30) << outcome.output;
  EXPECT_FALSE(outcome.says("a repeated")) << outcome.output;  // a wrong result that no error announced
  const bool first = names(outcome.output, 0), second = names(outcome.output, 2);
  EXPECT_TRUE(first || second) << outcome.output;
  if (!first || !second) {
    std::printf("again with recovery: a rank was ended before its line\n");
    outcome = run(arguments, settings, "--enable-recovery --timeout 25");
  }
  for (const int rank : {0, 2})
    EXPECT_TRUE(names(outcome.output, rank)) << "rank " << rank << " of:\n" << outcome.output;
}

TEST_P(Faults, EndTheJobWithTheRanksName) {
  const auto [way, by] = GetParam();
  for (int round = 0; round < rounds(); ++round) expect_the_ranks_name(way, by);
}

// What tells the others needs no memory.
TEST(NoMemory, IsAnErrorWhereItLasts) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const std::string output = run("no_memory", "", "--enable-recovery --timeout 25").output;
  EXPECT_NE(output.find("error: "), std::string::npos) << output;
  EXPECT_EQ(output.find("terminate called"), std::string::npos) << output;
}

TEST(Barrier, HasItsOwnTimeout) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const std::string output = run("hang_at_a_barrier").output;
  EXPECT_NE(output.find("rank 1 did not come within 1 s"), std::string::npos) << output;
}

TEST(NestedBackward, ErrorNamesTheParameter) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  EXPECT_NE(run("nested").output.find("adds to the gradient of `second.weight`"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, Faults,
                         testing::Combine(testing::Values("die_forward", "die_backward", "die_collective", "die_bucket",
                                                          "exit", "leave", "throw_backward", "no_memory",
                                                          "no_memory_async", "no_memory_wait", "no_memory_send",
                                                          "nested", "stop", "hang", "hang_at_a_barrier", "shape",
                                                          "call", "root", "rows", "more_calls", "seed", "model",
                                                          "memory_order", "options", "samples", "drop"),
                                          testing::Values(By::memory, By::messages)),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  std::string(std::get<1>(info.param) == By::memory ? "" : "_by_messages");
                         });

class Healthy : public Faults {};

TEST_P(Healthy, Ends) {
  const auto [way, by] = GetParam();
  const Outcome outcome = run(way, settings_of(by));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(, Healthy,
                         testing::Combine(testing::Values("nothing", "fork", "slow", "suspend", "long_barrier",
                                                          "static", "exit_at_the_end", "own_mpi"),
                                          testing::Values(By::memory, By::messages)));

class Checkpoints : public Faults {};

TEST_P(Checkpoints, AreWholeWhereARankDies) {
  const auto [way, by] = GetParam();
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = (folder != nullptr ? std::string(folder) : std::string("/tmp")) + "/fault.safetensors";
  for (int round = 0; round < rounds(); ++round) {
    expect_the_ranks_name(way + (" " + path), by);
    EXPECT_EQ(io::load_safetensors(path).count("model.first.weight"), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(, Checkpoints,
                         testing::Combine(testing::Values("checkpoint", "die_shard_checkpoint"),
                                          testing::Values(By::memory, By::messages)));

TEST(Launch, AWrongTimeoutIsOneLine) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const Outcome outcome = run("nothing", "WEFT_DISTRIBUTED_TIMEOUT=abc");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("WEFT_DISTRIBUTED_TIMEOUT=abc"), std::string::npos) << outcome.output;
}

TEST(Launch, MissingMpiIsOneLine) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const Outcome outcome = run("nothing", "WEFT_MPI=libnone.so");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("libnone.so"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("apt-get install openmpi-bin"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace weft::test
