// Device: where the memory of a tensor is and where kernels run.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace weft {

/// `cuda` has no backend yet: using it is a DeviceError. `extension` is for a backend that is compiled together with
/// weft's sources. `vmap` is the device of the tensors that a function sees while vmap runs it.
enum class DeviceKind : uint8_t { cpu, cuda, extension, vmap };
inline constexpr int kDeviceKinds = 4;

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  uint8_t index = 0;  // the number of the device among those of its kind

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(int index = 0) { return {DeviceKind::cuda, static_cast<uint8_t>(index)}; }
  static constexpr Device extension(int index = 0) { return {DeviceKind::extension, static_cast<uint8_t>(index)}; }
  static constexpr Device vmap(int index = 0) { return {DeviceKind::vmap, static_cast<uint8_t>(index)}; }
  constexpr bool is_cpu() const { return kind == DeviceKind::cpu; }
  bool operator==(const Device&) const = default;
};

/// `cpu`, `cuda:0`
std::string name_of(Device device);
std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace weft
