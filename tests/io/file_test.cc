// AtomicFile: whatever fails, and wherever the process dies, there is the old file or the new one under the name.
#include "io/file.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "io/npy.h"
#include "io/safetensors.h"
#include "tensor/functions/fill.h"
#include "tests/error_of.h"
#include "tests/io/files.h"

/// Of the file whose mode was set last, before that.
static mode_t mode_of_new_file = 0;

/// In place of the system's function of this name.
extern "C" int fchmod(int descriptor, mode_t mode) noexcept {
  struct stat status = {};
  if (::fstat(descriptor, &status) == 0) mode_of_new_file = status.st_mode;
  return static_cast<int>(::syscall(SYS_fchmod, descriptor, mode));
}

namespace weft {
namespace {

using test::Folder;

// What the replaced calls do: the write that would pass `budget` bytes fails, or kills the process.
size_t budget = 0;
int failure = ENOSPC;
bool die = false;
size_t largest_write = SIZE_MAX;

ssize_t faulty_write(int descriptor, const void* data, size_t bytes) {
  bytes = std::min(bytes, largest_write);
  if (bytes > budget) {
    if (die) {
      (void)!::write(descriptor, data, budget);
      ::raise(SIGKILL);
    }
    if (budget > 0)
      bytes = budget;  // a short write first, as on a full disk
    else
      return errno = failure, -1;
  }
  const ssize_t count = ::write(descriptor, data, bytes);
  budget -= static_cast<size_t>(count);
  return count;
}
int failing_sync(int) { return errno = EIO, -1; }
int interruptions = 0;
template <auto Call, class... Args> auto interrupted(Args... args) -> decltype(Call(args...)) {
  if (interruptions++ % 3 < 2) return errno = EINTR, -1;
  return Call(args...);
}
int failing_rename(const char*, const char*) { return errno = EACCES, -1; }

/// The system's calls come back at the end of a test.
struct Faults {
  io::detail::FileCalls before = io::detail::file_calls;
  ~Faults() {
    io::detail::file_calls = before;
    largest_write = SIZE_MAX;
    die = false;
    failure = ENOSPC;
  }
};

TEST(InputFile, ErrorsBeginWithThePath) {
  const std::string here = std::filesystem::current_path().string();
  const Folder folder;
  std::filesystem::current_path(folder / ".");
  test::write_bytes("e", "no file of these");  // a name that every text contains
  EXPECT_TRUE(test::io_error([] { io::load_npy("e"); }).starts_with("e: "));
  EXPECT_TRUE(test::io_error([] { io::load_safetensors("e"); }).starts_with("e: "));
  EXPECT_TRUE(test::io_error([] { io::load_npy("n"); }).starts_with("n: cannot open"));
  EXPECT_TRUE(test::io_error([] { io::load_npy("a\nb"); }).starts_with("a?b: cannot open"));
  std::filesystem::current_path(here);
}

TEST(InputFile, ErrorsOfMemoryKeepTheirClass) {
  const auto memory_error = [](const auto& f) { return error_of<MemoryError>([&] { io::detail::with_path("p", f); }); };
  EXPECT_EQ(memory_error([] { throw MemoryError("out of memory: 8 bytes"); }), "p: out of memory: 8 bytes");
  EXPECT_EQ(memory_error([] { throw std::bad_alloc(); }), "p: out of memory");
  EXPECT_EQ(test::io_error([] { io::detail::with_path("p", [] { throw ShapeError("too long"); }); }), "p: too long");
}

TEST(AtomicFile, WritesAndReplaces) {
  const Folder folder;
  io::write_file(folder / "a", "old");
  io::write_file(folder / "a", "newer");
  EXPECT_EQ(test::read_bytes(folder / "a"), "newer");
  EXPECT_EQ(folder.files(), 1);
}

TEST(AtomicFile, IsNotThereBeforeCommit) {
  const Folder folder;
  {
    io::AtomicFile file(folder / "a");
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  }
  EXPECT_EQ(folder.files(), 0);
}

TEST(AtomicFile, ModeFollowsUmaskOrTheOldFile) {
  const Folder folder;
  const auto mode = [&](const std::string& name) {
    struct stat status = {};
    EXPECT_EQ(::stat((folder / name).c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  const mode_t before = ::umask(027);
  io::write_file(folder / "a", "x");
  EXPECT_EQ(mode("a"), 0640u);
  ::chmod((folder / "a").c_str(), 0604);
  io::write_file(folder / "a", "y");
  EXPECT_EQ(mode("a"), 0604u);
  ::umask(before);
}

TEST(AtomicFile, OfAPrivateFileIsPrivateFromTheStart) {
  const Folder folder;
  io::write_file(folder / "a", "x");
  ::chmod((folder / "a").c_str(), 0600);
  const mode_t before = ::umask(0);
  io::write_file(folder / "a", "y");
  ::umask(before);
  EXPECT_EQ(mode_of_new_file & 07777, 0600u);
}

TEST(AtomicFile, FollowsLinksAndRefusesWhatIsNoFile) {
  const Folder folder;
  io::write_file(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  io::write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(test::read_bytes(folder / "target"), "new");
  EXPECT_SAYS(test::io_error([] { io::write_file("/dev/null", "x"); }), "not a regular file");
  EXPECT_SAYS(test::io_error([&] { io::write_file(folder / ".", "x"); }), "not a regular file");
  EXPECT_SAYS(test::io_error([&] { io::write_file(folder / "none/a", "x"); }), "No such file");
}

/// Root, too, may not write what modes forbid while this is alive.
class WithoutOverride {
 public:
  WithoutOverride() {
    ::syscall(SYS_capget, &header_, &before_);
    Capabilities less = before_;
    less[0].effective &= ~(1u << CAP_DAC_OVERRIDE);
    ::syscall(SYS_capset, &header_, &less);
  }
  ~WithoutOverride() { ::syscall(SYS_capset, &header_, &before_); }
  WithoutOverride(const WithoutOverride&) = delete;
  WithoutOverride& operator=(const WithoutOverride&) = delete;

 private:
  using Capabilities = std::array<__user_cap_data_struct, 2>;
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  Capabilities before_{};
};

TEST(AtomicFile, KeepsAFileThatMustNotBeWritten) {
  const Folder folder;
  const std::string path = folder / "a";
  io::write_file(path, "old");
  ::chmod(path.c_str(), 0444);
  const WithoutOverride modes_count;
  EXPECT_EQ(test::io_error([&] { io::write_file(path, "new"); }), path + ": cannot write: Permission denied");
  EXPECT_EQ(test::read_bytes(path), "old");
}

TEST(AtomicFile, CreatesWhatADanglingLinkNames) {
  const Folder folder;
  std::filesystem::create_symlink("middle", folder / "link");
  std::filesystem::create_symlink("target", folder / "middle");
  io::write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "middle"));
  EXPECT_EQ(test::read_bytes(folder / "target"), "new");
  std::filesystem::create_symlink("none/target", folder / "astray");
  EXPECT_SAYS(test::io_error([&] { io::write_file(folder / "astray", "x"); }), "No such file");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "astray"));
}

TEST(AtomicFile, RefusesALoopOfLinksAndNoName) {
  const Folder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_SAYS(test::io_error([&] { io::write_file(folder / "a", "x"); }), "Too many levels of symbolic links");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "a"));
  EXPECT_EQ(folder.files(), 2);
  EXPECT_EQ(test::io_error([] { io::save_npy("", ones({1})); }), "the name of the file is empty");
  const std::string cut = std::string(folder / "x") + '\0' + ".npy";
  EXPECT_SAYS(test::io_error([&] { io::save_npy(cut, ones({1})); }), "the name of the file holds a zero byte");
  EXPECT_SAYS(test::io_error([&] { io::load_npy(cut); }), "the name of the file holds a zero byte");
  EXPECT_EQ(folder.files(), 2);
}

TEST(AtomicFile, TakesTheLongestNames) {
  const Folder folder;
  for (const size_t length : {200u, 201u, 250u, 255u}) {
    const std::string path = folder / std::string(length, 'n');
    io::write_file(path, "x");
    EXPECT_EQ(test::read_bytes(path), "x");
  }
  EXPECT_SAYS(test::io_error([&] { io::write_file(folder / std::string(256, 'n'), "x"); }), "File name too long");
  EXPECT_EQ(folder.files(), 4);
}

TEST(AtomicFile, SavesToOneNameAtATimeDoNotDisturbEachOther) {
  const Folder folder;
  io::AtomicFile first(folder / "a"), second(folder / "a");
  first.write("first");
  second.write("second");
  EXPECT_EQ(folder.files(), 2);
  first.commit();
  EXPECT_EQ(test::read_bytes(folder / "a"), "first");
  second.commit();
  EXPECT_EQ(test::read_bytes(folder / "a"), "second");
  EXPECT_EQ(folder.files(), 1);
}

TEST(AtomicFile, FaultsLeaveTheOldFileAndNothingElse) {
  const Folder folder;
  const std::string path = folder / "a";
  io::write_file(path, "old");
  const Faults faults;
  for (const int reason : {ENOSPC, EIO}) {
    failure = reason;
    for (size_t bytes = 0; bytes < 7; ++bytes) {
      io::detail::file_calls.write = faulty_write;
      budget = bytes;
      const std::string text = test::io_error([&] { io::write_file(path, "the new"); });
      EXPECT_SAYS(text, reason == ENOSPC ? "No space left" : "Input/output error");
      EXPECT_SAYS(text, path);
      EXPECT_EQ(test::read_bytes(path), "old");
      EXPECT_EQ(folder.files(), 1);
    }
  }
}

TEST(AtomicFile, ShortWritesAreCarriedOn) {
  const Folder folder;
  const Faults faults;
  io::detail::file_calls.write = faulty_write;
  largest_write = 3;
  budget = 1000;
  io::write_file(folder / "a", "0123456789");
  EXPECT_EQ(test::read_bytes(folder / "a"), "0123456789");
}

TEST(AtomicFile, CallsThatASignalInterruptsAreRepeated) {
  const Folder folder;
  const Faults faults;
  io::detail::file_calls.write = interrupted<::write>;
  io::detail::file_calls.sync = interrupted<::fsync>;
  interruptions = 0;
  io::write_file(folder / "a", "new");
  EXPECT_EQ(interruptions, 9);  // of the content, of the file and of the folder
  EXPECT_EQ(test::read_bytes(folder / "a"), "new");
}

TEST(AtomicFile, FailingSyncAndRename) {
  const Folder folder;
  io::write_file(folder / "a", "old");
  {
    const Faults faults;
    io::detail::file_calls.sync = failing_sync;
    EXPECT_SAYS(test::io_error([&] { io::write_file(folder / "a", "new"); }), "cannot write to disk");
  }
  {
    const Faults faults;
    io::detail::file_calls.rename = failing_rename;
    EXPECT_SAYS(test::io_error([&] { io::write_file(folder / "a", "new"); }), "cannot rename");
  }
  EXPECT_EQ(test::read_bytes(folder / "a"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST(AtomicFile, AKilledWriterLeavesTheOldFileOrTheNew) {
  const Folder folder;
  const std::string path = folder / "model.safetensors";
  const StateDict old_state = {{"w", full({64}, 1.0, f32)}},
                  new_state = {{"w", full({64}, 2.0, f32)}, {"v", ones({3})}};
  io::save_safetensors(path, new_state);
  const size_t size = test::read_bytes(path).size();
  int kept_old = 0, got_new = 0;
  std::ptrdiff_t most_files = 0;
  for (size_t bytes = 0; bytes <= size + 8; bytes += 7) {
    io::save_safetensors(path, old_state);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      io::detail::file_calls.write = faulty_write;
      budget = bytes;
      die = true;
      io::save_safetensors(path, new_state);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    most_files = std::max(most_files, folder.files());
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    ASSERT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    const StateDict found = io::load_safetensors(path);
    EXPECT_EQ(found.size(), killed ? 1u : 2u);
    EXPECT_EQ(found.at("w").to_vector<float>()[63], killed ? 1 : 2);
    ++(killed ? kept_old : got_new);
  }
  EXPECT_GT(kept_old, 10);
  EXPECT_GE(got_new, 1);
  EXPECT_EQ(most_files, 2) << "a killed process leaves one file, however many were killed";
  io::save_safetensors(path, old_state);
  EXPECT_EQ(folder.files(), 1) << "the next save removes it";
}

}  // namespace
}  // namespace weft
