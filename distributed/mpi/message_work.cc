#include "distributed/mpi/message_work.h"

#include <algorithm>

#include "distributed/error.h"

namespace weft::distributed {
namespace {
constexpr int64_t kMessage = 1 << 30;  // MPI counts in int
}

MessageWork::MessageWork(Communicator& group, Collective collective, int tag)
    : group_(group), collective_(std::move(collective)), tag_(tag), stages_(collective_.stages(0, collective_.items)) {
  buffers_->signatures.resize(static_cast<size_t>(group.size()));
  buffers_->signatures[static_cast<size_t>(group.rank())] = collective_.signature;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == group.rank()) continue;
    send(&buffers_->signatures[static_cast<size_t>(group.rank())], sizeof(Signature), rank);
    receive(&buffers_->signatures[static_cast<size_t>(rank)], sizeof(Signature), rank);
  }
  headers_ = std::move(messages_);
  messages_.clear();
  start_stage();
}

MessageWork::~MessageWork() {
  // MPI still reads and writes these where the work was given up: after an error, when the job ends.
  if (!done_) (void)buffers_.release();
}

void MessageWork::send(const void* data, int64_t bytes, int to) {
  const MpiLibrary& mpi = group_.mpi();
  for (int64_t at = 0; at < bytes; at += kMessage) {
    messages_.push_back({.request = mpi.request_null, .rank = to, .receives = false});
    check_mpi(mpi,
              mpi.isend(static_cast<const std::byte*>(data) + at, static_cast<int>(std::min(kMessage, bytes - at)),
                        mpi.byte, to, tag_, group_.comm(), &messages_.back().request),
              "MPI_Isend");
  }
}

void MessageWork::receive(void* data, int64_t bytes, int from) {
  const MpiLibrary& mpi = group_.mpi();
  for (int64_t at = 0; at < bytes; at += kMessage) {
    messages_.push_back({.request = mpi.request_null, .rank = from, .receives = true});
    check_mpi(mpi,
              mpi.irecv(static_cast<std::byte*>(data) + at, static_cast<int>(std::min(kMessage, bytes - at)), mpi.byte,
                        from, tag_, group_.comm(), &messages_.back().request),
              "MPI_Irecv");
  }
}

void MessageWork::start_stage() {
  const Stage& stage = stages_[stage_];
  const int own = group_.rank();
  Buffers& b = *buffers_;
  b.sent.resize(static_cast<size_t>(stage.size(own)));
  stage.fill(b.sent.data());
  b.received.assign(static_cast<size_t>(group_.size()), {});
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == own) continue;
    const Range out = stage.range(rank, own), in = stage.range(own, rank);
    send(b.sent.data() + out.begin, out.size(), rank);
    auto& buffer = b.received[static_cast<size_t>(rank)];
    buffer.resize(static_cast<size_t>(in.size()));
    receive(buffer.data(), in.size(), rank);
  }
}

bool MessageWork::test(std::vector<Message>& messages) {
  const MpiLibrary& mpi = group_.mpi();
  std::erase_if(messages, [&](Message& message) {
    int arrived = 0;
    check_mpi(mpi, mpi.test(&message.request, &arrived, mpi.status_ignore), "MPI_Test");
    return arrived != 0;
  });
  return messages.empty();
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
  for (const auto& buffer : buffers_->received) from.push_back(buffer.data());
  from[static_cast<size_t>(own)] = buffers_->sent.data() + stage.range(own, own).begin;
  stage.consume(from);
}

bool MessageWork::progress() {
  while (!done_) {
    if (!compared_) {
      if (!test(headers_)) return false;
      check_signatures();
    }
    if (!test(messages_)) return false;
    consume();
    done_ = ++stage_ == stages_.size();
    if (!done_) start_stage();
  }
  return true;
}

std::vector<int> MessageWork::missing() const {
  std::vector<int> out;
  for (const auto* messages : {&headers_, &messages_})
    for (const Message& message : *messages)
      if (message.receives && std::find(out.begin(), out.end(), message.rank) == out.end()) out.push_back(message.rank);
  if (out.empty())
    for (const Message& message : messages_)
      if (std::find(out.begin(), out.end(), message.rank) == out.end()) out.push_back(message.rank);
  return out;
}

}  // namespace weft::distributed
