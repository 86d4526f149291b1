// What init() makes of the launcher that the environment names: the library that it opens, whether that is the
// launcher's, the cores that it leaves. Most tests have an MPI of their own (programs/fake_mpi.cc), so they need none.
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "distributed/launch.h"
#include "tensor/runtime/threads.h"
#include "tests/distributed/commands.h"

namespace weft::test {
namespace {

constexpr const char* kNone =
    "env -u OMP_NUM_THREADS -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE -u PMI_RANK -u PMIX_RANK -u SLURM_STEP_NUM_TASKS "
    "-u SLURM_PROCID ";
constexpr const char* kSlurm = "PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.7.0 SLURM_STEP_NUM_TASKS=2 ";

/// A training program, alone, with these settings.
Outcome train(const std::string& settings) { return run_command(kNone + settings + built("faults") + " nothing"); }
Outcome train_with_fake(const std::string& settings) { return train("WEFT_MPI=" + built("fake_mpi.so ") + settings); }

/// A folder that ends with the test.
class Folder {
 public:
  Folder() {
    const char* parent = std::getenv("TEST_TMPDIR");
    path_ = (parent != nullptr ? std::string(parent) : testing::TempDir()) + "/launcher";
    std::filesystem::remove_all(path_);
    for (const char* part : {"bin", "lib"}) std::filesystem::create_directories(path_ / part);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  /// Writes a mpirun, a script, and returns its path.
  std::string add_mpirun(const std::string& script) const {
    std::string path = path_ / "bin" / "mpirun";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void add_library(const char* name) const {
    std::filesystem::create_symlink(std::filesystem::absolute(built("fake_mpi.so")), path_ / "lib" / name);
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// ---- whose library it is ----

TEST(Library, ThatSeesFewerRanksThanWereStartedIsAnError) {
  for (const std::string started : {"OMPI_COMM_WORLD_SIZE=2 ", "PMI_SIZE=2 PMI_RANK=0 ", kSlurm}) {
    const Outcome outcome = train_with_fake(started);
    EXPECT_NE(outcome.status, 0) << started;
    for (const std::string part :
         {"init: 2 processes were started (", "fake_mpi.so) sees one", "WEFT_MPI=/path/to/libmpi.so"})
      EXPECT_TRUE(outcome.says(part)) << started << outcome.output;
  }
  // Where srun started the launcher, its number of tasks is not that of the ranks.
  for (const char* started : {"OMPI_COMM_WORLD_SIZE=1 ", "PMI_SIZE=1 PMI_RANK=0 ", "PMIX_RANK=0 ",
                              "PMIX_RANK=0 PMIX_NAMESPACE=prterun-7@1 SLURM_STEP_NUM_TASKS=2 ",
                              "OMPI_COMM_WORLD_SIZE=1 SLURM_STEP_NUM_TASKS=2 "}) {
    const Outcome outcome = train_with_fake(started);
    EXPECT_EQ(outcome.status, 0) << started << outcome.output;
    EXPECT_EQ(outcome.output, "") << started;
  }
}

TEST(Library, OfOpenMpiSeesOneRankOfMpichsLauncher) {
  if (!distributed::has_launcher()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const Outcome outcome = train("WEFT_MPI=libmpi.so.40 PMI_SIZE=2 PMI_RANK=0 ");
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(outcome.says("2 processes were started (PMI_SIZE=2)")) << outcome.output;
}

TEST(Library, HasTheConstantsOfItsAbi) {
  for (const char* abi : {"1", "-1"}) {
    const Outcome outcome = train_with_fake("PMI_SIZE=1 PMI_RANK=0 WEFT_TEST_ABI=" + std::string(abi) + " ");
    EXPECT_EQ(outcome.status, 0) << abi << outcome.output;
  }
}

// ---- where it is found ----

TEST(Library, IsTakenFromBesideTheFirstMpirun) {
  const Folder folder;
  folder.add_mpirun("");
  for (const char* name : {"libmpi.so.40", "libmpich.so.12"}) folder.add_library(name);
  const std::string path = "PATH=/nowhere:" + folder.path() + "/bin:$PATH ";
  for (const auto& [started, name] :
       {std::pair("OMPI_COMM_WORLD_SIZE=2 ", "libmpi.so.40"), std::pair("PMI_SIZE=2 PMI_RANK=0 ", "libmpich.so.12"),
        std::pair(kSlurm, "libmpi.so.40")}) {
    const Outcome outcome = train(path + started);
    EXPECT_TRUE(outcome.says(folder.path() + "/bin/../lib/" + name)) << started << outcome.output;
    EXPECT_FALSE(train("WEFT_MPI=libnone.so " + path + started).says(folder.path())) << started;
  }
}

TEST(Library, ThatIsMissingIsNamedWithItsPackage) {
  for (const auto& [started, package] :
       {std::pair("OMPI_COMM_WORLD_SIZE=2 ", "openmpi-bin"), std::pair("PMI_SIZE=2 PMI_RANK=0 ", "mpich")}) {
    const Outcome outcome = train("WEFT_MPI=libnone.so " + std::string(started));
    EXPECT_NE(outcome.status, 0) << started;
    EXPECT_TRUE(outcome.says("apt-get install " + std::string(package) + ", or set WEFT_MPI=/path/to/libmpi.so"))
        << outcome.output;
  }
}

// ---- tasks of srun ----

TEST(Alone, IsAWarningOfTheFirstOfSeveralTasksAndOtherwiseSilent) {
  const Outcome outcome = train("SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 ");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.says("srun started 2 tasks, but not as ranks of MPI")) << outcome.output;
  EXPECT_TRUE(outcome.says("--mpi=pmix")) << outcome.output;
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1) << "one line: " << outcome.output;
  for (const char* settings :
       {"", "SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 ", "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "}) {
    const Outcome quiet = train(settings);
    EXPECT_EQ(quiet.status, 0) << settings;
    EXPECT_EQ(quiet.output, "") << settings;
  }
}

// ---- cores ----

/// `taskset` to one of the cores.
std::string bound() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  int core = 0;
  while (!CPU_ISSET(core, &mask)) ++core;
  return "taskset -c " + std::to_string(core) + " ";
}

/// Whether one rank warns that `mpirun`, a script, bound it; mpirun is started with `settings`.
bool warns(const std::string& script, const std::string& settings = "") {
  const Folder folder;
  const std::string mpirun = folder.add_mpirun(script + "\nexit $?");  // so that the shell stays above its command
  const Outcome outcome = run_command(std::string(kNone) + "OMPI_COMM_WORLD_SIZE=1 WEFT_MPI=" + built("fake_mpi.so ") +
                                      settings + mpirun + " " + built("faults") + " nothing");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return outcome.says("mpirun bound the ranks of this machine to 1 of its");
}

TEST(Cores, ThatTheLauncherTookAwayAreAWarningWhereItHasMore) {
  if (num_threads() < 2) GTEST_SKIP() << "there is one core";
  const std::string binds = bound() + "\"$@\"";
  EXPECT_TRUE(warns(binds));
  EXPECT_TRUE(warns(bound() + "sh -c '\"$0\" \"$@\"; exit $?' \"$@\"")) << "with a script between the two";
  EXPECT_TRUE(warns(binds, "OMPI_MCA_orte_launch=1 OMPI_MCA_orte_bound_at_launch=1 ")) << "Open MPI 4";
  EXPECT_FALSE(warns("\"$@\""));
  EXPECT_FALSE(warns(binds, bound())) << "mpirun may use one core itself";
  EXPECT_FALSE(warns("sh -c '" + bound() + "\"$0\" \"$@\"; exit $?' \"$@\"")) << "a script binds the program";
  EXPECT_FALSE(warns(binds, "OMPI_MCA_orte_launch=1 ")) << "the program was started with `taskset`";
  EXPECT_FALSE(warns(binds, "OMP_NUM_THREADS=1 ")) << "the number of threads was chosen";
}

}  // namespace
}  // namespace weft::test
