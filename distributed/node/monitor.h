// Monitor: a thread that sees when another rank of the machine dies or is stopped, also while this one computes.
//
// It sleeps until the kernel says that a process has ended (a pidfd becomes readable), and wakes twice a second to
// count its own beats, which the others' monitors watch: a process that is stopped counts none. What it finds it writes
// into the rank's slot, where the main thread sees it as soon as it waits for others, and throws; and prints it at
// once, since mpirun may end the process sooner. A main thread that does not throw, since it computes or since its own
// error is kept somewhere, has a few seconds; then the monitor ends the process. mpirun sends SIGTERM to all ranks when
// one has died: it is caught (where the program has no handler of its own) so that each rank can say why it ends.
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
    int descriptor = -1;  // its pidfd; -1 where there is none
    uint64_t beats = 0;
    double beaten = 0;  // when they last changed
  };
  void run();
  void watch(Peer& peer, bool gone, double now);
  /// Notes what has become of a peer, and says so at once: mpirun may end this process before its main thread can.
  void found(const std::string& reason);
  /// Prints one line, once.
  void say(const std::string& reason);
  /// Ends the process where a rank has failed and the main thread does not end it.
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
