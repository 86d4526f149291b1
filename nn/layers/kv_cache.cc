#include "nn/layers/kv_cache.h"

#include <algorithm>
#include <exception>

#include "autograd/grad_mode.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::nn {

KvCache::KvCache(const KvCache& other) {
  if (other.length_ > 0) append(other.keys(), other.values());
}

KvCache& KvCache::operator=(const KvCache& other) {
  KvCache copy(other);
  swap(copy);
  return *this;
}

KvCache& KvCache::operator=(KvCache&& other) noexcept {
  KvCache taken(std::move(other));
  swap(taken);
  return *this;
}

void KvCache::swap(KvCache& other) noexcept {
  std::swap(keys_, other.keys_);
  std::swap(values_, other.values_);
  std::swap(length_, other.length_);
}

Tensor KvCache::seen(const Tensor& all) const { return all.defined() ? narrow(all, 2, 0, length_) : all; }

Tensor KvCache::grown(const Tensor& all, const Tensor& like, int64_t wanted) const {
  const int64_t capacity = all.defined() ? all.size(2) : 0;
  if (all.defined() && wanted <= capacity) return all;
  Shape shape = like.shape();
  shape[2] = std::max({wanted, 2 * capacity, int64_t{16}});
  const Tensor larger = empty(shape, like.dtype(), like.device());
  if (length_ > 0) narrow(larger, 2, 0, length_).copy_(seen(all));
  return larger;
}

void KvCache::append(const Tensor& keys, const Tensor& values) {
  ErrorFrame frame("KvCache::append", keys, values);
  NoGrad guard;
  if (keys.rank() != 4 || values.rank() != 4 ||
      !std::equal(keys.shape().begin(), keys.shape().end() - 1, values.shape().begin()))
    throw ShapeError("keys and values must be (N, heads, L, D) that differ in D at most");
  const auto fits = [](const Tensor& all, const Tensor& more) {
    return !all.defined() ||
           (all.size(0) == more.size(0) && all.size(1) == more.size(1) && all.size(3) == more.size(3));
  };
  if (!fits(keys_, keys) || !fits(values_, values))
    throw ShapeError(text("the cache holds ", this->keys().shape(), " and ", this->values().shape(),
                          "; clear() it for another batch"));
  for (const auto& [all, more] : {std::pair{&keys_, &keys}, {&values_, &values}})
    if (all->defined() && all->dtype() != more->dtype())
      throw DtypeError(text("the cache holds ", all->dtype(), ", not ", more->dtype(), "; clear() it first"));
  const int64_t wanted = checked_add(length_, keys.size(2));
  Tensor all_keys = grown(keys_, keys, wanted), all_values = grown(values_, values, wanted);
  narrow(all_keys, 2, length_, keys.size(2)).copy_(keys);
  narrow(all_values, 2, length_, keys.size(2)).copy_(values);
  keys_ = std::move(all_keys);  // after all that may fail
  values_ = std::move(all_values);
  length_ = wanted;
}

void KvCache::truncate(int64_t length) {
  if (length < 0 || length > length_)
    throw IndexError(text("KvCache::truncate(", length, "): the cache holds ", length_, " positions"));
  if (length == 0) return clear();  // the next batch may have another size
  length_ = length;
}

void KvCache::reorder(const Tensor& rows) {
  ErrorFrame frame("KvCache::reorder", rows);
  NoGrad guard;
  if (length_ == 0) throw Error("the cache is empty");
  const auto reordered = [&](const Tensor& all) {
    Shape shape = all.shape();  // with its capacity: a step of beam search appends next
    shape[0] = rows.numel();
    Tensor next = empty(shape, all.dtype(), all.device());
    internal::index_select_into(seen(all), 0, rows, seen(next));
    return next;
  };
  Tensor keys = reordered(keys_), values = reordered(values_);
  keys_ = std::move(keys);
  values_ = std::move(values);
}

KvCacheUndo::KvCacheUndo() : exceptions_(std::uncaught_exceptions()) {}

void KvCacheUndo::watch(KvCache& cache) { lengths_.emplace_back(&cache, cache.length()); }

KvCacheUndo::~KvCacheUndo() {
  if (std::uncaught_exceptions() == exceptions_) return;
  for (const auto& [cache, length] : lengths_) cache->truncate(std::min(length, cache->length()));
}

}  // namespace weft::nn
