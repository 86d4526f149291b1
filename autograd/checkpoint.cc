#include "autograd/checkpoint.h"

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "tensor/core/random.h"

namespace weft::autograd {
namespace {

class Call;

/// What stands for one tensor that the function's ops would keep.
struct Slot final : Packed {
  Slot(std::shared_ptr<Call> c, size_t i) : call(std::move(c)), index(i) {}
  Tensor unpack(const Shape& shape, DType dtype) override;
  int64_t bytes() const override {
    return value.defined() ? static_cast<int64_t>(internal::storage(value).bytes()) : 0;
  }

  std::shared_ptr<Call> call;
  size_t index;
  Saved leafs;   // a parameter's memory, which lives anyway: kept, so that a write to it is noticed
  Tensor value;  // once computed again
};

/// A tensor that is kept while the function runs again.
struct Held final : Packed {
  explicit Held(Tensor x) : value(std::move(x)) {}
  Tensor unpack(const Shape&, DType) override { return dispatch::alias(value); }
  int64_t bytes() const override { return static_cast<int64_t>(internal::storage(value).bytes()); }
  Tensor value;
};

/// One call of checkpoint: all that it takes to run it again. Slots own it.
class Call final : public std::enable_shared_from_this<Call> {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  Call(Function f, const std::vector<Tensor>& inputs) : f_(std::move(f)), autocast_(modes().autocast) {
    for (const Tensor& x : inputs) {
      inputs_.push_back(x.defined() ? Saved(x) : Saved());
      needs_.push_back(x.defined() && x.requires_grad());
    }
  }

  std::vector<Tensor> run_first(const std::vector<Tensor>& inputs) {
    First saver(*this);
    const SaverScope scope(&saver);
    const RandomScope noted(RandomScope::Kind::note, random_);
    std::vector<Tensor> out = f_(inputs);
    finished_ = true;
    return out;
  }

  /// Fills the slots that live.
  void run_again() {
    const EnableGrad recording;
    const ModeScope cast(&Modes::autocast, autocast_);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(inputs_[i].empty() ? Tensor()
                                          : unpack(inputs_[i], {}, "checkpoint", "input", static_cast<int>(i)));
      if (needs_[i]) inputs.back().requires_grad_(true);
    }
    Again saver(*this);
    const SaverScope scope(&saver);
    const RandomScope repeated(RandomScope::Kind::repeat, random_);
    f_(inputs);
    if (finished_ && saver.next != slots_.size())
      throw_differs(text("it kept ", slots_.size(), " tensors the first time, and ", saver.next, " now"));
  }

 private:
  struct First final : Saver {
    explicit First(Call& c) : call(c) {}
    std::shared_ptr<Packed> save(const Tensor& x) override {
      auto slot = std::make_shared<Slot>(call.shared_from_this(), call.slots_.size());
      if (is_leafs(edge_of(x))) {
        const SaverScope plain(nullptr);
        slot->leafs.keep(x);
      }
      call.slots_.push_back(slot);
      return slot;
    }
    Call& call;
  };
  struct Again final : Saver {
    explicit Again(Call& c) : call(c) {}
    std::shared_ptr<Packed> save(const Tensor& x) override {
      const size_t index = next++;
      const Tensor value = dispatch::alias(x);
      if (index < call.slots_.size())
        if (const std::shared_ptr<Slot> slot = call.slots_[index].lock()) fill(*slot, value);
      return std::make_shared<Held>(value);
    }
    static void fill(Slot& slot, const Tensor& value) {
      if (slot.leafs.empty())
        slot.value = value;
      else if (slot.leafs.storage != internal::storage_ptr(value))
        throw_differs("it reads another parameter than the first time");
    }
    Call& call;
    size_t next = 0;
  };
  [[noreturn]] static void throw_differs(const std::string& how) {
    throw GradientError(text("a checkpointed function must do the same when it is run again: ", how));
  }

  Function f_;
  DType autocast_;
  std::vector<Saved> inputs_;
  std::vector<bool> needs_;
  RandomLog random_;
  std::vector<std::weak_ptr<Slot>> slots_;
  bool finished_ = false;
};

Tensor Slot::unpack(const Shape& shape, DType dtype) {
  if (!leafs.empty()) return autograd::unpack(leafs, {}, "checkpoint", "parameter", static_cast<int>(index));
  if (!value.defined()) call->run_again();
  if (!value.defined() || value.shape() != shape || value.dtype() != dtype)
    throw GradientError(text("a checkpointed function must do the same when it is run again: tensor ", index,
                             " that it keeps was ", shape, " ", dtype, " and is now ", weft::describe(value)));
  return dispatch::alias(value);
}

}  // namespace

std::vector<Tensor> checkpoint_of(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> f,
                                  const std::vector<Tensor>& inputs) {
  if (!is_recording()) return f(inputs);
  return std::make_shared<Call>(std::move(f), inputs)->run_first(inputs);
}

}  // namespace weft::autograd
