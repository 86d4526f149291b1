#include "distributed/node/monitor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "distributed/node/clock.h"
#include "tensor/core/error.h"

namespace weft::distributed {
namespace {

constexpr double kStopped = 10;     // seconds without a beat
constexpr double kSuspended = 2;    // seconds in which this thread should have woken several times
constexpr double kGrace = 3;        // seconds for the main thread to throw
constexpr double kTermGrace = 0.4;  // the same after SIGTERM: mpirun sends SIGKILL a second later
constexpr int kBeat = 500;          // milliseconds

volatile std::sig_atomic_t terminated = 0;
volatile std::sig_atomic_t terminated_descriptor = -1;
pid_t terminated_process = 0;

extern "C" void on_terminate(int signal) {
  if (getpid() != terminated_process) {  // a forked child has no monitor: it ends as it would have without
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  terminated = 1;
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(terminated_descriptor, &one, sizeof one);
}

/// A descriptor that becomes readable when the process has ended; -1 where the kernel has none or the process is of
/// another namespace.
int open_process(const Slot& peer, const Slot& own) {
  if (peer.process_names != own.process_names) return -1;
  return static_cast<int>(syscall(SYS_pidfd_open, peer.process, 0));
}

}  // namespace

Monitor::Monitor(Node& node) : node_(node), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (int local = 0; local < node.size(); ++local)
    if (local != node.local_rank())
      peers_.push_back(
          {.local = local, .descriptor = open_process(node.slot(local), node.own()), .beaten = seconds_now()});
  struct sigaction current {};
  if (sigaction(SIGTERM, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
    terminated_descriptor = wake_;
    terminated_process = getpid();
    struct sigaction ours {};
    ours.sa_handler = on_terminate;
    sigaction(SIGTERM, &ours, nullptr);
  }
  // Signals are the main thread's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Monitor::~Monitor() {
  stop_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
  thread_.join();
  if (terminated_descriptor == wake_) {
    std::signal(SIGTERM, SIG_DFL);
    terminated_descriptor = -1;
  }
  for (const Peer& peer : peers_)
    if (peer.descriptor >= 0) close(peer.descriptor);
  close(wake_);
}

void Monitor::run() {
  for (double before = seconds_now(); !stop_;) {
    std::vector<pollfd> waited = {{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const Peer& peer : peers_) waited.push_back({.fd = peer.descriptor, .events = POLLIN, .revents = 0});
    const bool urgent = failed_at_ > 0 || terminated != 0;
    poll(waited.data(), waited.size(), urgent ? kBeat / 10 : kBeat);
    if (stop_) return;
    uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_, &count, sizeof count);
    node_.own().beats.fetch_add(1, std::memory_order_relaxed);
    const double now = seconds_now();
    // A job that is suspended as a whole (scontrol suspend, a paused container) and goes on finds old beats.
    if (now - before > kSuspended)
      for (Peer& peer : peers_) peer.beaten = now;
    before = now;
    for (size_t i = 0; i < peers_.size(); ++i) watch(peers_[i], (waited[i + 1].revents & POLLIN) != 0, now);
    end_late(now);
  }
}

void Monitor::watch(Peer& peer, bool gone, double now) {
  Slot& slot = node_.slot(peer.local);
  const State state = slot.state.load(std::memory_order_acquire);
  const std::string who = text("rank ", slot.rank, " (process ", slot.process, ")");
  if (gone) {
    close(peer.descriptor);
    peer.descriptor = -1;
    if (state != State::failed && state != State::ended) found(text(who, " died while it ", slot.past_activity()));
  }
  const uint64_t beats = slot.beats.load(std::memory_order_relaxed);
  if (beats != peer.beats || state != State::running) peer.beats = beats, peer.beaten = now;
  if (now - peer.beaten > kStopped) found(text(who, " has been stopped or frozen while it ", slot.past_activity()));
}

void Monitor::found(const std::string& reason) {
  node_.own().fail(reason);
  say(reason);
}

void Monitor::end_late(double now) {
  std::string reason;
  for (int local = 0; local < node_.size() && reason.empty(); ++local)
    if (const Slot& slot = node_.slot(local); slot.has_failed())
      reason = text("rank ", slot.rank, " failed: ", static_cast<const char*>(slot.reason));
  if (node_.own().has_failed()) reason = node_.own().reason;
  if (terminated != 0 && terminated_at_ == 0) terminated_at_ = now;
  if (!reason.empty()) {
    if (failed_at_ == 0) failed_at_ = now;
    if (terminated_at_ > 0) say(reason);
    if (now - failed_at_ > kGrace || (terminated_at_ > 0 && now - terminated_at_ > kTermGrace)) end(reason);
  } else if (terminated_at_ > 0 && now - terminated_at_ > kTermGrace) {
    std::signal(SIGTERM, SIG_DFL);  // no rank failed: the user's wish
    kill(getpid(), SIGTERM);
  }
}

void Monitor::say(const std::string& reason) {
  if (said_) return;
  said_ = true;
  const std::string line = text("error: rank ", node_.own().rank, ": ", reason, "\n");
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

void Monitor::end(const std::string& reason) {
  say(reason);
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

}  // namespace weft::distributed
