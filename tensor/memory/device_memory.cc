#include "tensor/memory/device_memory.h"

#include "tensor/core/error.h"

namespace weft::detail {
namespace {
DeviceMemory device_memory;
}

void set_device_memory(const DeviceMemory& memory) { device_memory = memory; }

void throw_no_backend(Device device) {
  throw DeviceError(text("there is no device ", name_of(device), ": this program has no backend of that kind"));
}

void* allocate_device_block(Device device, size_t bytes) {
  if (device_memory.allocate == nullptr) throw_no_backend(device);
  return device_memory.allocate(device, bytes);
}

void free_device_block(Device device, void* memory, size_t bytes) noexcept {
  device_memory.free(device, memory, bytes);
}

}  // namespace weft::detail
