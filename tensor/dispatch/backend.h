// Backend: what a kind of device other than the CPU provides: memory, copies to and from the host, and a way to run the
// kernel of an op. Programs and libraries register one; weft itself has none yet.
//
// Kernels may run later than they are given (a stream), in order. What a backend keeps for that: a copy of the
// descriptor (AnyOp) and of the operands' views. Memory that is freed while kernels that use it wait has to stay until
// they ran.
#pragma once

#include <cstddef>

#include "tensor/core/operand.h"
#include "tensor/dispatch/op_info.h"

namespace weft {

class Backend {
 public:
  virtual ~Backend() = default;
  /// How many devices of this kind there are.
  virtual int count() const = 0;
  /// 64-byte aligned memory of device `index`; null where it has none left.
  virtual void* allocate(int index, size_t bytes) = 0;
  virtual void free(int index, void* memory, size_t bytes) noexcept = 0;
  /// Both wait until the copy is done. An error of an earlier kernel is thrown here.
  virtual void copy_from_host(int index, void* to, const void* host, size_t bytes) = 0;
  virtual void copy_to_host(int index, void* host, const void* from, size_t bytes) = 0;
  /// Runs, or enqueues, the kernel of `op`. DeviceError where there is none.
  virtual void run(int index, const OpInfo& info, const void* op, Operands in, Operands out) = 0;
};

/// Makes `backend` the one of `kind` (not the CPU), until it is replaced or removed (null). Not while its tensors live.
void register_backend(DeviceKind kind, Backend* backend);

namespace dispatch {
/// DeviceError where the kind has no backend or no such index.
Backend& backend_of(Device device);
}  // namespace dispatch

}  // namespace weft
