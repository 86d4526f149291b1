// MessageWork: a collective by messages, which goes on in small steps: the stages one after the other, in each of which
// every rank sends the others what they read of it.
#pragma once

#include <memory>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/mpi/messages.h"
#include "tensor/memory/storage.h"

namespace weft::distributed {

class MessageWork final : public Progressive {
 public:
  /// Starts. The collective's signature travels ahead of its data, so that ranks that call different things find out.
  MessageWork(Communicator& group, Collective collective, int tag);
  ~MessageWork() override;
  bool progress() override;
  std::vector<int> missing() const override;
  const Signature& signature() const override { return collective_.signature; }

 private:
  /// Memory that MPI reads and writes, which the allocator has used before: the page faults of fresh memory took three
  /// quarters of the time of large collectives.
  struct Buffers {
    std::vector<Signature> signatures;
    IntrusivePtr<Storage> sent;
    std::vector<IntrusivePtr<Storage>> received;
  };
  void start_stage();
  void check_signatures();
  void consume();

  Communicator& group_;
  Collective collective_;
  std::vector<Stage> stages_;
  size_t stage_ = 0;
  bool done_ = false, compared_ = false;
  Messages headers_, messages_;
  std::unique_ptr<Buffers> buffers_ = std::make_unique<Buffers>();
};

}  // namespace weft::distributed
