// How Storage gets the memory of devices other than the CPU: set by register_backend (dispatch/backend.h).
#pragma once

#include <cstddef>

#include "tensor/core/device.h"

namespace weft::detail {

struct DeviceMemory {
  void* (*allocate)(Device device, size_t bytes) = nullptr;
  void (*free)(Device device, void* memory, size_t bytes) noexcept = nullptr;
};
void set_device_memory(const DeviceMemory& memory);
/// The DeviceError for a device of a kind that has no backend.
[[noreturn]] void throw_no_backend(Device device);
/// DeviceError where the device has no backend.
void* allocate_device_block(Device device, size_t bytes);
void free_device_block(Device device, void* memory, size_t bytes) noexcept;

}  // namespace weft::detail
