// send and recv: a signature, then the data, in messages between two ranks.
#include <algorithm>

#include "autograd/grad_mode.h"
#include "distributed/communicator.h"
#include "distributed/group.h"
#include "distributed/written.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::distributed {
namespace {

constexpr int64_t kMessage = 1 << 30;  // MPI counts in int
constexpr int64_t kLastTag = 32767;    // what every MPI has

/// Messages between this rank and one other. Buffers that MPI may still use after an error are not given back.
class Conversation {
 public:
  Conversation(Communicator& group, int other, int tag, Signature what)
      : group_(group), other_(other), tag_(tag), what_(what) {}

  void send(const void* data, int64_t bytes) {
    const MpiLibrary& mpi = group_.mpi();
    for (int64_t at = 0; at < bytes; at += kMessage) {
      MpiHandle request = mpi.request_null;
      check_mpi(mpi,
                mpi.isend(static_cast<const std::byte*>(data) + at, part(bytes, at), mpi.byte, other_, tag_,
                          group_.point_to_point(), &request),
                "MPI_Isend");
      wait(request);
    }
  }
  void receive(void* data, int64_t bytes) {
    const MpiLibrary& mpi = group_.mpi();
    for (int64_t at = 0; at < bytes; at += kMessage) {
      MpiHandle request = mpi.request_null;
      check_mpi(mpi,
                mpi.irecv(static_cast<std::byte*>(data) + at, part(bytes, at), mpi.byte, other_, tag_,
                          group_.point_to_point(), &request),
                "MPI_Irecv");
      wait(request);
    }
  }

 private:
  static int part(int64_t bytes, int64_t at) { return static_cast<int>(std::min(kMessage, bytes - at)); }
  void wait(MpiHandle request) {
    const MpiLibrary& mpi = group_.mpi();
    int done = 0;
    const auto ready = [&] {
      if (done == 0) check_mpi(mpi, mpi.test(&request, &done, mpi.status_ignore), "MPI_Test");
      return done != 0;
    };
    group_.wait(what_, ready, [&] { return std::vector<int>{other_}; });
  }

  Communicator& group_;
  int other_, tag_;
  Signature what_;
};

void check_partner(const Group& group, int64_t other, int64_t tag, const char* what) {
  if (other < 0 || other >= group.size() || other == group.rank())
    throw IndexError(text(what, " rank ", other, ": it must be another rank of the ", group.size(),
                          ", and this is rank ", group.rank()));
  if (tag < 0 || tag > kLastTag) throw IndexError(text("tag ", tag, " must lie in [0, ", kLastTag, "]"));
}

std::byte* bytes_of(const Tensor& x) {
  return static_cast<std::byte*>(internal::raw(x)) + x.layout().offset() * static_cast<int64_t>(size_of(x.dtype()));
}

/// What both sides must agree on.
Signature agreed(const Tensor& x) { return Signature::of(Call::send, x.shape(), x.dtype()); }

}  // namespace

void Group::send(const Tensor& x, int64_t to, int64_t tag) const {
  Frame frame("send", x);
  check_partner(*this, to, tag, "to");
  NoGrad guard;
  const Tensor memory = x.to(Device{}).contiguous();
  Conversation out(*communicator_, static_cast<int>(to), static_cast<int>(tag),
                   Signature::of(Call::send, x.shape(), x.dtype(), static_cast<int>(to)));
  const Signature signature = agreed(x);
  out.send(&signature, sizeof signature);
  out.send(bytes_of(memory), memory.numel() * static_cast<int64_t>(size_of(x.dtype())));
}

void Group::recv(const Tensor& x, int64_t from, int64_t tag) const {
  Frame frame("recv", x);
  check_partner(*this, from, tag, "from");
  dispatch::check_writable(x, "recv", false);
  const Signature what = Signature::of(Call::recv, x.shape(), x.dtype(), static_cast<int>(from));
  Conversation in(*communicator_, static_cast<int>(from), static_cast<int>(tag), what);
  Signature sent;
  in.receive(&sent, sizeof sent);
  if (!(sent == agreed(x)))
    communicator_->fail(what,
                        text("rank ", from, " sends ", Shape(sent.shape, sent.shape + sent.axes), " ", sent.dtype));
  NoGrad guard;
  Tensor memory = x.is_contiguous() && x.device().is_cpu() ? x.detach() : empty(x.shape(), x.dtype());
  in.receive(bytes_of(memory), memory.numel() * static_cast<int64_t>(size_of(x.dtype())));
  if (memory.shares_storage(x))
    was_written(x, "recv");
  else
    Tensor(x).copy_(memory);
}

}  // namespace weft::distributed
