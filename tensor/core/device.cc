#include "tensor/core/device.h"

#include <iterator>
#include <ostream>

namespace weft {

std::string name_of(Device device) {
  constexpr const char* names[] = {"cpu", "cuda", "extension", "vmap"};
  static_assert(std::size(names) == kDeviceKinds);
  const std::string name = names[static_cast<int>(device.kind)];
  return device.is_cpu() ? name : name + ":" + std::to_string(device.index);
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << name_of(device); }

}  // namespace weft
