#include "nn/layers/kv_cache.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::nn {

Tensor KvCache::seen(const Tensor& all) const { return all.defined() ? narrow(all, 2, 0, length_) : all; }

void KvCache::grow(Tensor& all, const Tensor& like, int64_t wanted) const {
  const int64_t capacity = all.defined() ? all.size(2) : 0;
  if (wanted <= capacity) return;
  Shape shape = like.shape();
  shape[2] = std::max({wanted, 2 * capacity, int64_t{16}});
  Tensor larger = empty(shape, like.dtype(), like.device());
  if (length_ > 0) narrow(larger, 2, 0, length_).copy_(seen(all));
  all = larger;
}

void KvCache::append(const Tensor& keys, const Tensor& values) {
  ErrorFrame frame("KvCache::append", keys, values);
  NoGrad guard;
  if (keys.rank() != 4 || values.rank() != 4 || keys.size(2) != values.size(2))
    throw ShapeError("keys and values must be (N, heads, L, D) of one length");
  const auto fits = [](const Tensor& all, const Tensor& more) {
    return !all.defined() ||
           (all.size(0) == more.size(0) && all.size(1) == more.size(1) && all.size(3) == more.size(3));
  };
  if (!fits(keys_, keys) || !fits(values_, values))
    throw ShapeError(text("the cache holds ", keys_.shape(), "; clear() it for another batch"));
  const int64_t wanted = checked_add(length_, keys.size(2));
  grow(keys_, keys, wanted);
  grow(values_, values, wanted);
  narrow(keys_, 2, length_, keys.size(2)).copy_(keys);
  narrow(values_, 2, length_, keys.size(2)).copy_(values);
  length_ = wanted;
}

}  // namespace weft::nn
