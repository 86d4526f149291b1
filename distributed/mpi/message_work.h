// MessageWork: runs a collective with messages, in small steps. The stages run one after the other; in each, every rank
// sends the other ranks the parts that they read.
#pragma once

#include <memory>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/mpi/messages.h"
#include "tensor/memory/storage.h"

namespace weft::distributed {

class MessageWork final : public Progressive {
 public:
  /// Starts the collective. Its signature is sent before its data, so that ranks detect different calls.
  MessageWork(Communicator& group, Collective collective, int tag);
  ~MessageWork() override;
  bool progress() override;
  std::vector<int> missing() const override;
  const Signature& signature() const override { return collective_.signature; }

 private:
  /// Message buffers from weft's allocator, which reuses memory: page faults of fresh memory took three quarters of the
  /// time of large collectives.
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
