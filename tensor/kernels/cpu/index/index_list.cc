#include "tensor/kernels/cpu/index/index_list.h"

#include "tensor/core/error.h"

namespace weft::kernels::cpu {

void IndexList::copy_from(const Operand& index) {
  visit_integer(index.dtype, [&]<class T>() {
    const RowView all(index, index.rank(), index.rank());
    const T* data = index.data<T>();
    NestWalk walk(all.outer, 0);
    for (int64_t i = 0; i < count_; ++i, walk.next()) copy_.data()[i] = static_cast<int64_t>(data[walk.in()]);
  });
}

void IndexList::check_range(const int64_t* list, int64_t count, int64_t limit, const char* unit) {
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    uint64_t largest = 0;  // negative indices are huge
    for (int64_t i = begin; i < end; ++i) largest = std::max(largest, static_cast<uint64_t>(list[i]));
    if (largest < static_cast<uint64_t>(limit)) continue;
    for (int64_t i = begin; i < end; ++i)
      if (list[i] < 0 || list[i] >= limit)
        throw IndexError(text("index ", list[i], " is out of range for ", limit, " ", unit));
  }
}

}  // namespace weft::kernels::cpu
