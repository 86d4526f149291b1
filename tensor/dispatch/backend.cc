#include "tensor/dispatch/backend.h"

#include <array>
#include <atomic>

#include "tensor/core/error.h"
#include "tensor/memory/device_memory.h"

namespace weft {
namespace {

std::array<std::atomic<Backend*>, kDeviceKinds> backends{};

void* allocate_on(Device device, size_t bytes) {
  void* const memory = dispatch::backend_of(device).allocate(device.index, bytes);
  if (memory == nullptr) throw DeviceError(text("out of memory on ", name_of(device), ": ", bytes, " bytes asked for"));
  return memory;
}
void free_on(Device device, void* memory, size_t bytes) noexcept {
  if (Backend* backend = backends[static_cast<size_t>(device.kind)].load(std::memory_order_acquire))
    backend->free(device.index, memory, bytes);
}

}  // namespace

void register_backend(DeviceKind kind, Backend* backend) {
  if (kind == DeviceKind::cpu) throw DeviceError("the CPU is not a backend that can be replaced");
  detail::set_device_memory({&allocate_on, &free_on});
  backends[static_cast<size_t>(kind)].store(backend, std::memory_order_release);
}

namespace dispatch {

Backend& backend_of(Device device) {
  Backend* const backend = backends[static_cast<size_t>(device.kind)].load(std::memory_order_acquire);
  if (device.kind == DeviceKind::cpu)
    throw DeviceError(text("there is no device cpu:", device.index, "; the CPU is one device, Device::cpu()"));
  if (backend == nullptr) detail::throw_no_backend(device);
  if (device.index >= backend->count())
    throw DeviceError(text("there is no device ", name_of(device), ": there are ", backend->count(), " of that kind"));
  return *backend;
}

}  // namespace dispatch
}  // namespace weft
