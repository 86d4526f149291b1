#include "tensor/runtime/convolution.h"

#include <atomic>

namespace weft {
namespace {
std::atomic<Convolution> chosen{Convolution::fastest};
}

void set_convolution(Convolution algorithm) { chosen.store(algorithm, std::memory_order_relaxed); }
Convolution convolution() { return chosen.load(std::memory_order_relaxed); }

}  // namespace weft
