// The main function of tests that run on several ranks. Started plainly, the program runs its tests alone, and then
// again under mpirun as 2 and as 4 ranks, and as 2 that send messages; it passes where all did. Where there is no
// mpirun it says so.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "distributed/launch.h"
#include "distributed/mpi/launcher.h"
#include "tests/distributed/ranks.h"

namespace {

/// The exit status of this program started again as `ranks` processes.
int run_again(int ranks, bool messages, int argc, char** argv) {
  std::fprintf(stderr, "== %d rank%s%s\n", ranks, ranks == 1 ? "" : "s", messages ? ", by messages" : "");
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_TEST_RANKS", "started", 1);
    setenv("WEFT_DISTRIBUTED_TIMEOUT", "30", 0);
    if (messages) setenv("WEFT_DISTRIBUTED_SHARED_MEMORY", "0", 1);
    if (ranks > 1) unsetenv("XML_OUTPUT_FILE");  // the ranks would write the same file
    try {
      weft::distributed::launch(ranks, argc, argv);
      execv("/proc/self/exe", argv);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const bool started = std::getenv("WEFT_TEST_RANKS") != nullptr || !weft::distributed::launched_by().empty();
  if (started) {
    // One rank's lines are enough, and Bazel's sharding would give the ranks different tests.
    testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    weft::test::whole_group.reset();
    return failed;
  }
  int failures = run_again(1, false, argc, argv) != 0;
  if (!weft::distributed::has_launcher()) {
    std::fprintf(stderr, "skipped with 2 and 4 ranks: there is no mpirun (apt-get install openmpi-bin)\n");
    return failures;
  }
  for (const int ranks : {2, 4}) failures += run_again(ranks, false, argc, argv) != 0;
  failures += run_again(2, true, argc, argv) != 0;
  return failures;
}
