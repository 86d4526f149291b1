// Backend: the interface of a device kind other than the CPU. It provides memory, copies to and from the host, and a
// way to run the kernel of an op. Programs and libraries register a backend; weft itself has none yet.
//
// A backend may run kernels later, in order (a stream). It then has to copy the descriptor (as AnyOp) and the views of
// the operands. Memory that is freed while enqueued kernels use it must stay allocated until they have run.
#pragma once

#include <cstddef>

#include "tensor/core/operand.h"
#include "tensor/dispatch/op_info.h"

namespace weft {

class Backend {
 public:
  virtual ~Backend() = default;
  /// The number of devices of this kind.
  virtual int count() const = 0;
  /// Allocates 64-byte aligned memory on device `index`; null if there is not enough.
  virtual void* allocate(int index, size_t bytes) = 0;
  virtual void free(int index, void* memory, size_t bytes) noexcept = 0;
  /// Both return after the copy is complete. They throw errors of earlier kernels.
  virtual void copy_from_host(int index, void* to, const void* host, size_t bytes) = 0;
  virtual void copy_to_host(int index, void* host, const void* from, size_t bytes) = 0;
  /// Runs or enqueues the kernel of `op`. DeviceError if there is none.
  virtual void run(int index, const OpInfo& info, const void* op, Operands in, Operands out) = 0;
};

/// Sets the backend of `kind` (not the CPU); null removes it. Must not be called while tensors on such a device exist.
void register_backend(DeviceKind kind, Backend* backend);

namespace dispatch {
/// The backend of a device. DeviceError if the kind has no backend or no device with this index.
Backend& backend_of(Device device);
}  // namespace dispatch

}  // namespace weft
