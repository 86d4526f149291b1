// Errors of distributed calls.
#pragma once

#include "tensor/core/error.h"

namespace weft::distributed {

/// A rank died, hangs, ended early or called another collective; or MPI is missing or failed. The group cannot be used
/// afterwards: release it and end the job.
class DistributedError : public Error {
 public:
  using Error::Error;
};

}  // namespace weft::distributed
