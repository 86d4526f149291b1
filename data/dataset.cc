#include "data/dataset.h"

#include <mutex>

#include "data/sampler.h"
#include "tensor/core/error.h"

namespace weft::data::detail {

std::vector<int64_t> range(int64_t begin, int64_t end, int64_t size) {
  if (begin < 0 || end <= begin || end > size)
    throw IndexError(text("batch: examples ", begin, " to ", end, " are not a range in a dataset of ", size));
  return ordered(end - begin, begin);
}

IntrusivePtr<Lifetime::Token> Lifetime::watch() const {
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!token_) token_ = IntrusivePtr<Token>::adopt(new Token);
  return token_;
}

void throw_ended() {
  throw Error(
      "the dataset or stream has ended, and is held by reference: let it live longer than its loader, or give it "
      "away by std::move()");
}

}  // namespace weft::data::detail
