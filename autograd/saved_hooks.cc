#include "autograd/saved_hooks.h"

#include <memory>

#include "autograd/grad_mode.h"
#include "autograd/saver.h"
#include "tensor/dispatch/apply.h"

namespace weft::autograd {
namespace {

class PackedByHook final : public Packed {
 public:
  PackedByHook(std::any kept, std::shared_ptr<const SavedTensorHooks::Unpack> unpack)
      : kept_(std::move(kept)), unpack_(std::move(unpack)) {}

  Tensor unpack(const Shape& shape, DType dtype) override {
    const NoGrad guard;
    const SaverScope unhooked(nullptr);
    const Tensor x = (*unpack_)(kept_);
    if (!x.defined() || x.shape() != shape || x.dtype() != dtype)
      throw GradientError(text("unpack returned ", weft::describe(x), " for a saved tensor of ", shape, " ", dtype));
    return dispatch::alias(x);
  }
  int64_t bytes() const override {
    const Tensor* x = std::any_cast<Tensor>(&kept_);
    return x != nullptr && x->defined() ? static_cast<int64_t>(internal::storage(*x).bytes()) : 0;
  }

 private:
  std::any kept_;
  std::shared_ptr<const SavedTensorHooks::Unpack> unpack_;
};

class HookSaver final : public Saver {
 public:
  HookSaver(SavedTensorHooks::Pack pack, SavedTensorHooks::Unpack unpack)
      : pack_(std::make_shared<const SavedTensorHooks::Pack>(std::move(pack))),
        unpack_(std::make_shared<const SavedTensorHooks::Unpack>(std::move(unpack))) {
    if (!*pack_ || !*unpack_)
      throw Error("SavedTensorHooks: it takes a pack and an unpack function, none of them empty");
  }
  std::shared_ptr<Packed> save(const Tensor& x) override {
    if (x.device().kind == DeviceKind::vmap) return nullptr;  // what pack returns would lose the history of the batch
    const NoGrad guard;
    const SaverScope unhooked(nullptr);
    const Storage& memory = internal::storage(x);
    const uint64_t version = memory.version();
    const auto pack = pack_;  // the hook may end its scope, which owns this object
    const auto unpack = unpack_;
    std::any kept = (*pack)(dispatch::alias(x));
    if (memory.version() != version)
      throw GradientError(text("SavedTensorHooks: pack wrote to the tensor that it was given, ", weft::describe(x),
                               ", which others use too; it may write to a clone()"));
    return std::make_shared<PackedByHook>(std::move(kept), unpack);
  }

 private:
  std::shared_ptr<const SavedTensorHooks::Pack> pack_;
  std::shared_ptr<const SavedTensorHooks::Unpack> unpack_;
};

}  // namespace

struct SavedTensorHooks::Scope {
  Scope(Pack pack, Unpack unpack) : saver(std::move(pack), std::move(unpack)) {}
  HookSaver saver;
  SaverScope scope{&saver};
};

SavedTensorHooks::SavedTensorHooks(Pack pack, Unpack unpack) : scope_(new Scope(std::move(pack), std::move(unpack))) {}
SavedTensorHooks::~SavedTensorHooks() = default;

}  // namespace weft::autograd
