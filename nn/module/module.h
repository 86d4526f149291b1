// Module: the base class of layers and models. A module owns named parameters, buffers and child modules.
//
// Modules are move-only handles. Parameters, buffers, children and the train/eval mode live in shared state, so the
// handle that register_module() returns and the one that the parent holds refer to the same module.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/state_dict.h"

namespace weft::nn {

using weft::StateDict;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct BufferOptions {
  bool saved = true;  // included in state_dict()
};

struct LoadOptions {
  bool strict = true;       // Error for a missing or unexpected key
  std::string prefix = {};  // "bert.": loads the keys that begin with it, without it; the others are left out
  bool assign = false;      // no copy: parameters and buffers take the memory, dtype and device of what is given
};

/// The keys that load_state_dict({.strict = false}) did not load.
struct LoadResult {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

struct NamedModule;
class Module;

/// The tensor arguments of a layer call, in order. An omitted argument is undefined.
using Tensors = std::vector<Tensor>;
/// Hook signatures. A pre-hook receives the module and its inputs; if it returns tensors, they replace the inputs and
/// must have the same number. A forward hook also receives the output; if it returns a defined tensor, that replaces
/// the output.
using ForwardPreHook = std::function<Tensors(const Module&, const Tensors& inputs)>;
using ForwardHook = std::function<Tensor(const Module&, const Tensors& inputs, const Tensor& y)>;
struct HookOptions {
  bool prepend = false;  // run before the hooks that were registered so far
};

namespace detail {
/// Copies the parameters, buffers and modes of `from` to `to`. Error if their structures differ.
void copy_module_state(const Module& from, const Module& to);
/// Warns once if `member`, which the forward() of `layer` calls, was not registered, and has parameters or buffers or
/// computes something else in evaluation: parameters(), to(), train() and saved files leave it out.
void warn_of_member(const Module& layer, const Module& member);
class FreshStatistics;
class Parametrization;

/// The name of a child or parameter, and its new name. If that is empty, it no longer belongs to the module.
struct Renamed {
  std::string from, to;
};

/// A class that computes its weight in its own forward(). If it is held as its base class, the old weight is used.
template <class M>
concept ComputesWeight = requires {
  typename M::ComputedLayer;
};
/// The return type of register_module() for such a class. It converts to M but not to a base of M.
template <class M> class Unsliced {
 public:
  explicit Unsliced(M module) : module_(std::move(module)) {}
  template <std::same_as<M> T> operator T() && { return std::move(module_); }

 private:
  M module_;
};

/// Makes room for one more item, so that adding it cannot fail after it was registered under its name.
template <class Item> void make_room(std::vector<Item>& items) {
  if (items.size() == items.capacity()) items.reserve(2 * items.size() + 1);
}

/// The number of hooks registered on all modules. While it is 0, calls do not look for hooks. (<atomic> would add to
/// what each user's file takes to compile.)
inline int forward_hooks_made = 0;
inline int forward_hooks() noexcept { return __atomic_load_n(&forward_hooks_made, __ATOMIC_SEQ_CST); }
inline void count_forward_hooks(int change) noexcept {
  __atomic_fetch_add(&forward_hooks_made, change, __ATOMIC_SEQ_CST);
}
}  // namespace detail

class Module {
 public:
  Module();
  virtual ~Module();
  Module(Module&&) noexcept;
  /// Replaces a child: if this is a registered layer and `other` belongs to no module, `other` takes its place in the
  /// parent under the same name, as in `net.head = nn::Linear(512, 10);`. An existing optimizer still refers to the old
  /// layer's parameters, so create the optimizer afterwards. Error if `other` contains the parent. A layer that was
  /// moved from (by std::exchange, or std::swap with an unregistered layer) is no longer registered, so assign to it
  /// before moving.
  Module& operator=(Module&& other);  // NOLINT(performance-noexcept-move-constructor)
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // ---- mode ----
  /// Sets training mode (the default) or evaluation mode for this module and all its descendants. It affects dropout
  /// and batch norm, among others.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;

  // ---- parts ----
  /// This module, named "", and all its descendants, as handles of class Module; see apply().
  std::vector<NamedModule> modules() const;
  /// All parameters, parents first, in registration order. A shared parameter is listed once, under its first name.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<Tensor> parameters() const;
  /// named_parameters() as a dict, in the order of the names: what functional_call(), vmap and value_and_grad take.
  StateDict parameter_dict() const;
  /// All buffers, whether they are saved or not, a shared one once. (The value of a parametrized weight is none:
  /// parametrize.h.)
  std::vector<NamedTensor> buffers() const;
  /// A parameter or buffer by its dotted name (`conv.weight`). Error if there is none.
  Tensor get_parameter(const std::string& name) const;
  Tensor get_buffer(const std::string& name) const;
  /// The total number of elements of all parameters.
  int64_t parameter_count() const;
  /// The class name without its namespace: `Conv2d`.
  std::string type_name() const;
  /// The dotted name in the outermost module that it belongs to, as in errors: `body.0`; empty for that module itself.
  std::string path() const;
  /// A pointer that identifies the module: equal for all handles of one module.
  const void* identity() const noexcept { return state_.get(); }
  /// Prefixes `error`, which was thrown in this module, with `in layer body.0 (Linear): `. Does nothing for a module
  /// without a parent.
  void name_in(Error& error) const;

  /// The tree of modules with their options, formatted as PyTorch prints it.
  std::string to_string() const;

  // ---- hooks ----
  /// Handle of a registered hook; remove() unregisters it. Destroying the handle does not.
  class HookHandle;
  /// Registers `hook(module, x, y)`, called after each call of this layer with input x and output y, after the hooks
  /// that were registered before, or with `{.prepend = true}` before them. The hook returns void, or a tensor that
  /// replaces y if it is defined. If it takes `const Tensors&` instead of `const Tensor&`, it receives all input
  /// tensors, otherwise only the first. For a layer with several outputs, y is the first. Modules that define only
  /// forward() and do not derive from Layer do not call hooks.
  template <class F> HookHandle register_forward_hook(F hook, const HookOptions& options = {});
  /// Registers `hook(module, x)`, called before each call, in the same order. The hook returns void, or a tensor that
  /// replaces x. If it takes `const Tensors&`, it receives all inputs and may return replacements for all of them;
  /// Error unless their number is the same.
  template <class F> HookHandle register_forward_pre_hook(F hook, const HookOptions& options = {});
  /// Run the registered hooks on the inputs, or on the output, of a call.
  Tensors before_forward(const Tensors& inputs) const;
  Tensor after_forward(const Tensors& inputs, const Tensor& y) const;

  // ---- random numbers ----
  /// Makes this module and all its descendants draw random numbers from `generator` instead of the default generator.
  /// The generator must outlive the modules. A clone uses the default generator again.
  void set_generator(Generator& generator);

  // ---- state ----
  /// Parameters and saved buffers under PyTorch's names (`first.conv.weight`). The tensors share the module's memory,
  /// so later training changes them too.
  StateDict state_dict() const;
  /// state_dict() with copied data.
  StateDict clone_state() const;
  /// Copies `state` into the existing parameters and buffers, cast to their dtypes. Everything is checked before
  /// anything is written. Error if a shape differs or a key is missing or unexpected; the message shows the first five,
  /// Error::items has all of them. As in PyTorch, a batch norm's num_batches_tracked may be missing if its running
  /// averages are present; it then keeps its value. With `assign`, gradients are cast as by to(), memory that
  /// several names share, or that is not row-major, is copied, and the memory counts as written: a graph that has saved
  /// it cannot run backward any more. (If there is no room for a cast gradient, a part may have been assigned.)
  LoadResult load_state_dict(const StateDict& state, const LoadOptions& options = {});

  // ---- changes ----
  /// Casts parameters, their gradients and floating buffers to `dtype` in place, so that existing optimizers stay
  /// valid. DtypeError unless `dtype` is floating, Error for a buffer that is the result of a recorded op; then nothing
  /// has changed.
  void to(DType dtype);
  /// Moves parameters, buffers and gradients to `device` in place, so that existing optimizers stay valid. DeviceError
  /// if there is no such device.
  void to(Device device);
  /// Calls `change` on every descendant, then on this module. It gets handles of class Module, which type_name() tells
  /// apart; a cast to the layer's class does not work, get_parameter() and get_buffer() do.
  void apply(const std::function<void(Module&)>& change);
  /// Makes the gradients of all parameters undefined.
  void zero_grad();
  /// Sets requires_grad of all parameters; false freezes them.
  void requires_grad_(bool value = true);

  /// The state that all handles of a module share; internal to nn/.
  struct State;

 protected:
  /// Makes `module` a child and returns it, for a member to hold:
  ///   nn::Linear head = register_module("head", nn::Linear(8, 2));
  ///   nn::WeightNorm<nn::Linear> body = register_module("body", nn::weight_norm(nn::Linear(8, 8)));
  /// Error if the name is empty, contains a '.' or is taken, and for a base object that was sliced out of a WeightNorm.
  template <class M>
    requires(!std::is_lvalue_reference_v<M>)
  [[nodiscard("the returned module is the registered one: keep it in a member")]] auto register_module(
      const std::string& name, M&& module) {
    adopt(name, module, typeid(M), detail::ComputesWeight<M>);
    if constexpr (detail::ComputesWeight<M>)
      return detail::Unsliced<M>(std::forward<M>(module));
    else
      return M(std::forward<M>(module));
  }
  /// Makes a member that has been built already a child: `register_module("head", head);`. Errors are the same.
  template <class M> void register_module(const std::string& name, M& module) {
    const std::type_info& type = typeid(module);  // M may be a base class
    adopt(name, module, type, detail::ComputesWeight<M> || type != typeid(M));
  }
  /// `items`, the list of a container. Error if this module was moved from: it would look like an empty one.
  template <class Items> const Items& present(const Items& items) const {
    if (items.empty()) (void)is_training();
    return items;
  }
  /// Registers `value` as a parameter and returns it. It becomes a leaf that requires a gradient unless it is a leaf
  /// already; of a value with a history, a leaf on the same memory is registered and returned. An undefined tensor
  /// registers nothing. A member that holds it must not be assigned another tensor, which the module would not know:
  /// write to it (`copy_`) instead.
  Tensor register_parameter(const std::string& name, const Tensor& value);
  /// Registers a tensor that belongs to the module's state but is not trained, and returns it. Change it in place
  /// (`mean.copy_(x)`): assigning to the member that holds it leaves the registered tensor as it was.
  Tensor register_buffer(const std::string& name, const Tensor& value, const BufferOptions& options = {});
  /// Renames children, and puts them in this order behind those that are not listed; names that no child has are
  /// skipped. Error if a new name is taken. If it throws, nothing has changed, but that the child `added` is released.
  void rearrange_modules(const std::vector<detail::Renamed>& list, const std::string& added = {});
  /// The same for parameters of this module itself.
  void rearrange_parameters(const std::vector<detail::Renamed>& list, const std::string& added = {});
  /// Sets the options that are printed for this module: `in_features=3, out_features=4`.
  void describe(std::string options);
  /// Makes update_bn() average this module's statistics anew.
  void mark_as_batch_norm();
  /// Says that train() and eval() change what this module computes, though it has no parameters.
  void mark_as_mode_dependent();
  /// The generator that forward() draws from; see set_generator().
  Generator& generator() const;
  bool has_generator() const;

 private:
  friend class ReplacedState;
  friend void detail::warn_of_member(const Module& layer, const Module& member);
  friend class detail::FreshStatistics;
  friend class detail::Parametrization;
  friend void detail::copy_module_state(const Module& from, const Module& to);
  explicit Module(IntrusivePtr<State> state);
  void check_name(const std::string& name) const;
  void adopt(const std::string& name, Module& module, const std::type_info& type, bool computes_weight = false);
  void check_child(const std::string& name, State& child) const;
  void link(const std::string& name, State& child, const std::type_info& type);
  void take_place(Module& other);
  State& state() const;
  HookHandle add_hook(const HookOptions& options, ForwardPreHook before, ForwardHook after);

  IntrusivePtr<State> state_;
};

class Module::HookHandle {
 public:
  /// Does nothing where the hook is gone, or the module.
  void remove() {
    if (const IntrusivePtr<Hooks> hooks = hooks_) hooks->remove(number_);  // the hook may own this handle
  }

 private:
  friend class Module;
  friend struct State;
  /// The hooks of a module; none after its end.
  struct Hooks : SharedObject {
    virtual void remove(int number) = 0;
  };
  HookHandle(const IntrusivePtr<Hooks>& hooks, int number) : hooks_(hooks), number_(number) {}
  IntrusivePtr<Hooks> hooks_;
  int number_;
};

namespace detail {
/// Calls `hook` and returns its result, or a default Result if it returns void.
template <class Result, class F, class... Args> Result result_of(F& hook, const Args&... args) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const Args&...>>)
    return hook(args...), Result();
  else
    return hook(args...);
}
}  // namespace detail

template <class F> Module::HookHandle Module::register_forward_hook(F function, const HookOptions& options) {
  F hook = weft::detail::not_empty("register_forward_hook", std::move(function));
  if constexpr (std::is_invocable_v<F&, const Module&, const Tensor&, const Tensor&>)
    return add_hook(options, {},
                    [hook = std::move(hook)](const Module& module, const Tensors& in, const Tensor& y) mutable {
                      return detail::result_of<Tensor>(hook, module, in.front(), y);
                    });
  else
    return add_hook(options, {},
                    [hook = std::move(hook)](const Module& module, const Tensors& in, const Tensor& y) mutable {
                      return detail::result_of<Tensor>(hook, module, in, y);
                    });
}

template <class F> Module::HookHandle Module::register_forward_pre_hook(F function, const HookOptions& options) {
  F hook = weft::detail::not_empty("register_forward_pre_hook", std::move(function));
  if constexpr (std::is_invocable_v<F&, const Module&, const Tensor&>)
    return add_hook(options,
                    [hook = std::move(hook)](const Module& module, const Tensors& in) mutable {
                      Tensors given = in;
                      if (const Tensor x = detail::result_of<Tensor>(hook, module, in.front()); x.defined())
                        given.front() = x;
                      return given;
                    },
                    {});
  else
    return add_hook(options,
                    [hook = std::move(hook)](const Module& module, const Tensors& in) mutable {
                      return detail::result_of<Tensors>(hook, module, in);
                    },
                    {});
}

std::ostream& operator<<(std::ostream& out, const Module& module);

struct NamedModule {
  std::string name;
  Module module;
};

}  // namespace weft::nn
