#include "tensor/dispatch/autocast_copies.h"

#include <array>
#include <atomic>
#include <unordered_map>

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/observer.h"
#include "tensor/ops/copy.h"
#include "tensor/runtime/thread_object.h"

namespace weft::dispatch {
namespace {

struct Copy {
  IntrusivePtr<Storage> source;  // alive, so that no other memory can take its place
  View view;
  uint64_t version;
  Tensor copy;
};

/// The copies that the calling thread's open scopes share, by the leaf's body.
struct CopyCache {
  int open_scopes = 0;
  std::unordered_map<const internal::TensorBody*, Copy> copies;
};

CopyCache& cache() {
  return detail::thread_object<CopyCache>([] { return CopyCache(); });
}

/// The memory that was handed out, as bits: one that is set by mistake only costs a cast. They stay set, as the address
/// may be used as long as the memory lives, and the next memory there is few programs' parameter.
constexpr size_t kWords = 1024;
std::array<std::atomic<uint64_t>, kWords> handed_out{};

/// Word and bit of an address. Memory is aligned to 64 bytes.
std::pair<size_t, uint64_t> bit_of(const void* memory) noexcept {
  const uint64_t hash = (reinterpret_cast<uintptr_t>(memory) >> 6) * 0x9E3779B97F4A7C15;
  return {hash >> 54, uint64_t{1} << (hash >> 48 & 63)};
}

bool was_handed_out(const Storage& storage) {
  const auto [word, bit] = bit_of(storage.data());
  return storage.is_borrowed() || (handed_out[word].load(std::memory_order_relaxed) & bit) != 0;
}

bool may_share(const Tensor& x) {
  const internal::TensorBody& body = internal::body(x);
  return cache().open_scopes > 0 && body.history && body.history->is_leaf() && !is_observed() && x.device().is_cpu() &&
         !was_handed_out(*body.storage);
}

}  // namespace

Tensor autocast_copy(const Tensor& x, DType dtype) {
  const op::Cast op{dtype};
  if (!may_share(x)) return apply(op, x);
  const internal::TensorBody& body = internal::body(x);
  const auto found = cache().copies.find(&body);
  if (found != cache().copies.end()) {
    const Copy& cached = found->second;
    if (cached.source.get() == body.storage.get() && cached.version == body.storage->version() &&
        cached.view == body.view && cached.copy.dtype() == dtype) {
      Tensor out = alias(cached.copy);
      const Tensor* inputs[] = {&x};
      record({op_info<op::Cast>, &op, inputs, {&out, 1}});
      return out;
    }
    cache().copies.erase(found);
  }
  const uint64_t version = body.storage->version();  // before the values are read: a write after this is seen
  Tensor out = apply(op, x);
  cache().copies.emplace(&body, Copy{body.storage, body.view, version, alias(out)});
  return out;
}

bool may_change_unseen(const Tensor& x) { return was_handed_out(*internal::body(x).storage); }

void note_handed_out(const void* memory) noexcept {
  const auto [word, bit] = bit_of(memory);
  std::atomic<uint64_t>& bits = handed_out[word];
  if ((bits.load(std::memory_order_relaxed) & bit) == 0) bits.fetch_or(bit, std::memory_order_relaxed);
}

void open_autocast_scope() { ++cache().open_scopes; }
void close_autocast_scope() {
  if (--cache().open_scopes == 0) cache().copies.clear();
}

}  // namespace weft::dispatch
