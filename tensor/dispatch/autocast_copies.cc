#include "tensor/dispatch/autocast_copies.h"

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

bool may_share(const Tensor& x) {
  const internal::TensorBody& body = internal::body(x);
  return cache().open_scopes > 0 && body.history && body.history->is_leaf() && !internal::needs_separate_ops() &&
         x.device().is_cpu() && !body.storage->may_change_unseen();
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

void open_autocast_scope() { ++cache().open_scopes; }
void close_autocast_scope() {
  if (--cache().open_scopes == 0) cache().copies.clear();
}

}  // namespace weft::dispatch
