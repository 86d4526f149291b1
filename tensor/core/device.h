// Device: where memory lives. One kind today; a kernel takes its device from its inputs.
#pragma once

#include <cstdint>

namespace weft {

enum class DeviceKind : uint8_t { cpu };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  bool operator==(const Device&) const = default;
};

}  // namespace weft
