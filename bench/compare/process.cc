#include "bench/compare/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

extern char** environ;

namespace weft::bench {
namespace {

/// This process's environment with `changes`, as NAME=value.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    if (!changes.count(line.substr(0, line.find('=')))) all.push_back(line);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> out;
  for (std::string& line : lines) out.push_back(line.data());
  out.push_back(nullptr);
  return out;
}

/// Reads both pipes until they end.
void drain(const std::array<int, 2>& pipes, const std::array<std::string*, 2>& texts) {
  std::array<pollfd, 2> waiting = {{{pipes[0], POLLIN, 0}, {pipes[1], POLLIN, 0}}};
  for (int open = 2; open > 0;) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (size_t i = 0; i < 2; ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = read(waiting[i].fd, buffer, sizeof buffer);
      if (count > 0) {
        texts[i]->append(buffer, static_cast<size_t>(count));
      } else {
        waiting[i].fd = -1;
        --open;
      }
    }
  }
}

double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

}  // namespace

Outcome run_process(const Command& command) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return {.status = 127, .errors = "no pipe"};
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return {.status = 127, .errors = "no pipe"};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);

  std::vector<std::string> arguments = command.arguments, environment = environment_with(command.environment);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);

  Outcome outcome;
  if (failed != 0) {
    outcome = {.status = 127, .errors = "cannot start " + arguments[0]};
  } else {
    drain({out[0], err[0]}, {&outcome.output, &outcome.errors});
    int status = 0;
    rusage usage{};
    wait4(pid, &status, 0, &usage);
    outcome.seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    outcome.peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  close(out[0]);
  close(err[0]);
  return outcome;
}

BusyCore::BusyCore() : pid_(fork()) {
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, whatever happens to that
  for (;;) asm volatile("");
}

BusyCore::~BusyCore() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace weft::bench
