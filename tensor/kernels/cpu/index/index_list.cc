#include "tensor/kernels/cpu/index/index_list.h"

#include <atomic>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {
constexpr int64_t kListGrain = 32768;
}

void IndexList::copy_from(const Operand& index) {
  if (!is_integer(index.dtype)) throw DtypeError(text("indices are integers, not ", index.dtype));
  const View row_major = View::contiguous(index.shape());
  copy(index, Operand{copy_.data(), &row_major, DType::i64});
}

void IndexList::check(int64_t limit) const {
  std::atomic<bool> bad = false;
  parallel_for(count_, kListGrain, [&](int64_t begin, int64_t end) {
    if (!all_below(data_ + begin, end - begin, limit)) bad.store(true, std::memory_order_relaxed);
  });
  if (!bad) return;
  for (int64_t i = 0; i < count_; ++i)
    if (data_[i] < 0 || data_[i] >= limit)
      throw IndexError(text("index ", data_[i], " is out of range for an axis of size ", limit));
}

void IndexList::check_classes(const int64_t* list, int64_t count, int64_t classes, std::optional<int64_t> ignored) {
  for (int64_t i = 0; i < count; ++i)
    if ((list[i] < 0 || list[i] >= classes) && list[i] != ignored)
      throw IndexError(text("class ", list[i], " is out of range for ", classes, " classes"));
}

}  // namespace weft::kernels::cpu
