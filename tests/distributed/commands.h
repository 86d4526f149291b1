// Runs the programs of this folder as a shell would.
#pragma once

#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace weft::test {

struct Outcome {
  int status = 0;
  double seconds = 0;
  std::string output;  // of both streams
  bool says(const std::string& part) const { return output.find(part) != std::string::npos; }
};

/// The path of a file that this folder builds.
inline std::string built(const std::string& name) {
  const char* folder = std::getenv("TEST_SRCDIR");
  return (folder != nullptr ? std::string(folder) + "/weft/" : "") + "tests/distributed/" + name;
}

/// Runs one command of a shell.
inline Outcome run_command(const std::string& command) {
  Outcome out;
  const auto start = std::chrono::steady_clock::now();
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) out.output += line;
  const int status = pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace weft::test
