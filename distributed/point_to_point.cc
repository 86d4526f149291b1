// send and recv: a signature, then the data, in messages between two ranks.
#include <memory>

#include "distributed/communicator.h"
#include "distributed/mpi/messages.h"
#include "distributed/written.h"

namespace weft::distributed {
namespace {

/// A tensor on its way between this rank and another. Both sides start all of its messages at once, so that several
/// with one tag find each other in the order of the calls.
class Transfer final : public Progressive {
 public:
  /// `what` is this side's call (send or recv), whose root is the other rank; `memory` is row-major.
  Transfer(Communicator& group, const Signature& what, const Tensor& memory)
      : group_(group),
        what_(what),
        header_(group, group.point_to_point(), static_cast<int>(what.number)),
        data_(group, group.point_to_point(), static_cast<int>(what.number)),
        buffers_(std::make_unique<Buffers>(Buffers{agreed(what), memory})) {
    try {
      begin();
    } catch (...) {
      (void)buffers_.release();                                     // MPI still reads and writes them
      group.give_up("a transfer ended with an error as it began");  // the other rank may have its header
      throw;
    }
  }
  ~Transfer() override {
    // MPI still reads or writes this memory where the transfer was given up: after an error, when the job ends.
    if (!done_) (void)buffers_.release();
  }
  bool progress() override {
    if (done_) return true;
    group_.check_usable();
    if (!compared_) {
      if (!header_.test()) return false;
      const Signature& sent = buffers_->signature;
      if (!(sent == agreed(what_)))
        group_.fail(what_,
                    text("rank ", what_.root, " sends ", Shape(sent.shape, sent.shape + sent.axes), " ", sent.dtype));
      compared_ = true;
    }
    return done_ = data_.test();
  }
  std::vector<int> missing() const override { return {what_.root}; }
  const Signature& signature() const override { return what_; }

 private:
  /// What MPI reads or writes until the transfer is done.
  struct Buffers {
    Signature signature;
    Tensor memory;
  };
  void begin() {
    const Tensor& memory = buffers_->memory;
    if (what_.call == Call::send) {
      header_.send(&buffers_->signature, sizeof(Signature), what_.root);
      data_.send(bytes_of(memory), memory.nbytes(), what_.root);
    } else {
      header_.receive(&buffers_->signature, sizeof(Signature), what_.root);
      data_.receive(bytes_of(memory), memory.nbytes(), what_.root);
    }
  }
  /// What both sides must agree on.
  static Signature agreed(const Signature& what) {
    Signature out = what;
    out.call = Call::send;
    out.root = 0;
    return out;
  }

  Communicator& group_;
  Signature what_;
  Messages header_, data_;
  std::unique_ptr<Buffers> buffers_;
  bool done_ = false, compared_ = false;
};

void check_partner(const Group& group, int64_t other, int64_t tag, const char* what) {
  if (other < 0 || other >= group.size() || other == group.rank())
    throw IndexError(text(what, " rank ", other, ": it must be another rank of the ", group.size(),
                          ", and this is rank ", group.rank()));
  if (tag < 0 || tag > kLastTag) throw IndexError(text("tag ", tag, " must lie in [0, ", kLastTag, "]"));
}

std::shared_ptr<Progressive> start(Communicator& group, Call call, const Tensor& memory, int64_t other, int64_t tag) {
  group.check_usable();
  Signature what = Signature::of(call, memory.shape(), memory.dtype(), static_cast<int>(other));
  what.number = static_cast<uint64_t>(tag);
  return group.start(std::make_shared<Transfer>(group, what, memory));
}

}  // namespace

Work Group::send_async(const Tensor& x, int64_t to, int64_t tag) const {
  ErrorFrame frame("send_async", x);
  check_partner(*this, to, tag, "to");
  const Tensor memory = internal::host_row_major(x);
  return Work::State::start(communicator_, {memory}, nullptr,
                            [&] { return start(*communicator_, Call::send, memory, to, tag); });
}

Work Group::recv_async(const Tensor& x, int64_t from, int64_t tag) const {
  ErrorFrame frame("recv_async", x);
  check_partner(*this, from, tag, "from");
  auto written = std::make_shared<Written>(x, "recv");
  return Work::State::start(communicator_, {written->memory()}, written,
                            [&] { return start(*communicator_, Call::recv, written->memory(), from, tag); });
}

void Group::send(const Tensor& x, int64_t to, int64_t tag) const {
  ErrorFrame frame("send", x);
  send_async(x, to, tag).wait();
}

void Group::recv(const Tensor& x, int64_t from, int64_t tag) const {
  ErrorFrame frame("recv", x);
  recv_async(x, from, tag).wait();
}

}  // namespace weft::distributed
