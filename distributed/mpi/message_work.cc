#include "distributed/mpi/message_work.h"

namespace weft::distributed {
namespace {
std::byte* bytes_of(const IntrusivePtr<Storage>& memory) { return static_cast<std::byte*>(memory->data()); }
}  // namespace

MessageWork::MessageWork(Communicator& group, Collective collective, int tag)
    : group_(group),
      collective_(std::move(collective)),
      stages_(collective_.stages(0, collective_.items)),
      headers_(group, group.comm(), tag),
      messages_(group, group.comm(), tag) {
  buffers_->signatures.resize(static_cast<size_t>(group.size()));
  buffers_->signatures[static_cast<size_t>(group.rank())] = collective_.signature;
  try {
    for (int rank = 0; rank < group.size(); ++rank) {
      if (rank == group.rank()) continue;
      headers_.send(&buffers_->signatures[static_cast<size_t>(group.rank())], sizeof(Signature), rank);
      headers_.receive(&buffers_->signatures[static_cast<size_t>(rank)], sizeof(Signature), rank);
    }
    start_stage();
  } catch (...) {
    (void)buffers_.release();                                        // MPI still reads and writes them
    group_.give_up("a collective ended with an error as it began");  // others may have its messages
    throw;
  }
}

MessageWork::~MessageWork() {
  // MPI still reads and writes these where the work was given up: after an error, when the job ends.
  if (!done_) (void)buffers_.release();
}

void MessageWork::start_stage() {
  const Stage& stage = stages_[stage_];
  const int own = group_.rank();
  Buffers& b = *buffers_;
  b.sent = Storage::allocate(static_cast<size_t>(stage.size(own)));
  stage.fill(bytes_of(b.sent));
  b.received.assign(static_cast<size_t>(group_.size()), {});
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == own) continue;
    const Range out = stage.range(rank, own), in = stage.range(own, rank);
    messages_.send(bytes_of(b.sent) + out.begin, out.size(), rank);
    auto& buffer = b.received[static_cast<size_t>(rank)];
    buffer = Storage::allocate(static_cast<size_t>(in.size()));
    messages_.receive(bytes_of(buffer), in.size(), rank);
  }
}

void MessageWork::check_signatures() {
  for (int rank = 0; rank < group_.size(); ++rank) {
    const Signature& other = buffers_->signatures[static_cast<size_t>(rank)];
    if (!(other == collective_.signature))
      group_.fail(collective_.signature, text("rank ", rank, " is in ", other.to_string()));
  }
  compared_ = true;
}

void MessageWork::consume() {
  const Stage& stage = stages_[stage_];
  const int own = group_.rank();
  std::vector<const std::byte*> from;
  for (const auto& buffer : buffers_->received) from.push_back(buffer ? bytes_of(buffer) : nullptr);
  from[static_cast<size_t>(own)] = stage.own;
  stage.consume(from);
}

bool MessageWork::progress() {
  if (!done_) group_.check_usable();
  try {
    while (!done_) {
      if (!compared_) {
        if (!headers_.test()) return false;
        check_signatures();
      }
      if (!messages_.test()) return false;
      consume();
      group_.note_move();
      done_ = ++stage_ == stages_.size();
      if (!done_) start_stage();
    }
  } catch (...) {
    group_.give_up("a collective ended with an error before its end");  // the others wait for its next stage
    throw;
  }
  return true;
}

std::vector<int> MessageWork::missing() const {
  std::vector<int> out;
  headers_.add_missing(out);
  messages_.add_missing(out);
  return out;
}

}  // namespace weft::distributed
