#include "tensor/kernels/cpu/base/force_loops.h"

#include <atomic>

namespace weft::kernels::cpu {
namespace {
std::atomic<bool> forced{false};
}

void force_loop_kernels(bool on) { forced.store(on, std::memory_order_relaxed); }
bool loops_forced() { return forced.load(std::memory_order_relaxed); }

}  // namespace weft::kernels::cpu
