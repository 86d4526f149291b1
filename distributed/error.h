// What goes wrong between ranks.
#pragma once

#include "tensor/core/error.h"

namespace weft::distributed {

/// A rank that died, hangs, ended early or calls something else; MPI that is missing or fails. The group cannot be used
/// any more: leave it, and let the job end.
class DistributedError : public Error {
 public:
  using Error::Error;
};

}  // namespace weft::distributed
