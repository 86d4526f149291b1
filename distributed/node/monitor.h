// Monitor: a thread that detects when another rank on the machine dies or is stopped, even while this rank computes.
//
// It sleeps until the kernel reports the end of a process (its pidfd becomes readable). Twice a second it wakes to
// increment its own heartbeat, which the other monitors watch: a stopped process has no heartbeat. It writes what it
// detects into its rank's slot. The main thread reads the slot when it waits for others, and throws. The monitor also
// prints the reason immediately, because mpirun may end the process sooner. If the main thread does not throw, because
// it computes or because its error is stored somewhere, the monitor ends the process after a few seconds. mpirun sends
// SIGTERM to all ranks when one has died. The signal is caught (unless the program has its own handler) so that each
// rank can print why it ends.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "distributed/node/node.h"

namespace weft::distributed {

class Monitor {
 public:
  explicit Monitor(Node& node);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

 private:
  struct Peer {
    int local = 0;
    int descriptor = -1;  // its pidfd; -1 if there is none
    uint64_t beats = 0;
    double beaten = 0;  // time of the last change of `beats`
  };
  void run();
  void watch(Peer& peer, bool gone, double now);
  /// Records what happened to a peer and prints it immediately, because mpirun may end this process before its main
  /// thread can.
  void found(const std::string& reason);
  /// Prints one line; only the first call does.
  void say(const std::string& reason);
  /// Ends the process if a rank has failed and the main thread does not end it.
  void end_late(double now);
  [[noreturn]] void end(const std::string& reason);

  Node& node_;
  std::vector<Peer> peers_;
  int wake_ = -1;
  double failed_at_ = 0, terminated_at_ = 0;
  bool said_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace weft::distributed
