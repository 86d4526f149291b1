// The state that all handles of a module share; internal to nn/.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "nn/module/module.h"
#include "nn/module/named_list.h"

namespace weft::nn {

struct Module::State final : SharedObject {
  struct Buffer {
    std::string name;
    Tensor tensor;
    bool saved;
    bool computed = false;  // set in each call (parametrize.h)
  };
  struct Child {
    std::string name;
    IntrusivePtr<State> state;
  };

  std::string type;     // the class name; set when the module is registered or asked for it
  std::string path;     // prefix of names in this module, such as `first.conv.`; empty at the root
  std::string options;  // as they are printed
  struct Hook {
    ForwardPreHook before;  // only one of the two is set
    ForwardHook after;
  };
  struct Hooks final : HookHandle::Hooks {
    // Guards the lists of all modules, for a few instructions: hooks are added and taken off, and modules end, while
    // other threads call a module.
    static inline constinit std::mutex mutex;
    // By number, in the order in which they run: those that were prepended have negative numbers. Shared by copies of
    // the list: a hook may have state.
    std::map<int, std::shared_ptr<const Hook>> list;
    int made = 0, first = 0;
    ~Hooks() override { clear(); }
    // Both release hooks last, without the lock: one may own the module, or take off another.
    void remove(int number) override {
      std::unique_lock lock(mutex);
      const auto gone = list.extract(number);
      lock.unlock();
      if (!gone.empty()) detail::count_forward_hooks(-1);
    }
    void clear() {
      std::unique_lock lock(mutex);
      const auto gone = std::exchange(list, {});
      lock.unlock();
      detail::count_forward_hooks(-static_cast<int>(gone.size()));
    }
  };
  IntrusivePtr<HookHandle::Hooks> hooks;  // null while none was added
  Generator* generator = nullptr;         // null: the default generator
  bool adopted = false;
  bool abandoned = false;        // its object has another state now
  State* parent = nullptr;       // set if it was adopted, while that one exists
  bool computes_weight = false;  // its class wraps the forward() of its base class
  bool is_batch_norm = false;
  bool depends_on_mode = false;         // though it has no parameters
  std::atomic<bool> is_checked{false};  // by warn_of_member()
  bool training = true;
  detail::NamedList<NamedTensor> parameters;
  detail::NamedList<Buffer> buffers;
  detail::NamedList<Child> children;

  ~State() override {
    for (const Child& child : children)
      if (child.state->parent == this) child.state->parent = nullptr;
    if (hooks) list_of_hooks().clear();  // last: code of users runs
  }

  Hooks& list_of_hooks() const { return static_cast<Hooks&>(*hooks); }

  /// Calls visit(state) for this module and all its descendants, parents first. Needs no memory: destructors use it.
  template <class F> void each(const F& visit) {
    visit(*this);
    for (const Child& child : children) child.state->each(visit);
  }
  /// Calls visit(prefix, state) for this module and all its descendants, parents first. `prefix` is "" or ends in a
  /// dot; it begins with `start`.
  template <class F> void walk(const F& visit, std::string start = "") { walk_from(visit, start); }

 private:
  /// `prefix` is the same when it returns: one string serves all modules.
  template <class F> void walk_from(const F& visit, std::string& prefix) {
    visit(std::as_const(prefix), *this);
    const size_t length = prefix.size();
    for (const Child& child : children) {
      prefix.append(child.name).push_back('.');
      child.state->walk_from(visit, prefix);
      prefix.resize(length);
    }
  }
};

namespace detail {
/// Moves the memory of `converted` into `tensor`, which keeps its identity for optimizers and other handles. The
/// version counter of the new memory is higher than that of the old memory.
void take_memory(const Tensor& tensor, const Tensor& converted);
/// Whether modules may have registered the parameter more than `times` times. Looking it up in all of them would take
/// time in proportion to the square of their number.
bool may_be_registered_more_than(int64_t times, const Tensor& parameter);
}  // namespace detail

}  // namespace weft::nn
