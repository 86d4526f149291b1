// Other programs: run one and read what it prints, or keep one core busy.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace weft::bench {

struct Command {
  std::vector<std::string> arguments = {};              // the program first, looked up in PATH
  std::map<std::string, std::string> environment = {};  // on top of this process's
};

struct Outcome {
  int status = 0;  // the exit code; -1 where a signal ended it, 127 where it could not start
  std::string output = {};
  std::string errors = {};
  double seconds = 0;  // processor time, of user and system
  double peak_mb = 0;  // the most resident memory of it or of a process that it started
  bool ok() const { return status == 0; }
};

/// Runs it to its end.
Outcome run_process(const Command& command);

/// While alive, another process spins on one core.
class BusyCore {
 public:
  BusyCore();
  ~BusyCore();
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  pid_t pid_;
};

}  // namespace weft::bench
