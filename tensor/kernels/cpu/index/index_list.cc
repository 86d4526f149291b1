#include "tensor/kernels/cpu/index/index_list.h"

#include <atomic>

#include "tensor/core/error.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {
constexpr int64_t kListGrain = 32768;
}

void IndexList::copy_from(const Operand& index) {
  visit_integer(index.dtype, [&]<class T>() {
    const RowView all(index, index.rank(), index.rank());
    const T* data = index.data<T>();
    parallel_for(count_, kListGrain, [&](int64_t begin, int64_t end) {
      NestWalk walk(all.outer, begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) copy_.data()[i] = static_cast<int64_t>(data[walk.in()]);
    });
  });
}

void IndexList::check_range(const int64_t* list, int64_t count, int64_t limit, const char* unit) {
  std::atomic<bool> bad = false;
  parallel_for(count, kListGrain, [&](int64_t begin, int64_t end) {
    uint64_t largest = 0;  // negative indices are huge
    for (int64_t i = begin; i < end; ++i) largest = std::max(largest, static_cast<uint64_t>(list[i]));
    if (largest >= static_cast<uint64_t>(limit)) bad.store(true, std::memory_order_relaxed);
  });
  if (!bad) return;
  for (int64_t i = 0; i < count; ++i)
    if (list[i] < 0 || list[i] >= limit)
      throw IndexError(text("index ", list[i], " is out of range for ", limit, " ", unit));
}

}  // namespace weft::kernels::cpu
