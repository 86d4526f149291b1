// Module: the base of layers and models. A module owns named parameters, buffers and child modules.
//
// Modules are move-only handles: parameters, buffers, children and the train/eval mode live in shared state, so that
// what register_module() returned and what the parent holds are the same module.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
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
  bool saved = true;  // part of state_dict()
};

struct LoadOptions {
  bool strict = true;  // a key that is missing or unexpected is an error
};

/// The keys that load_state_dict({.strict = false}) left alone.
struct LoadResult {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

struct NamedModule;
class Module;

/// The tensors that a layer is called with, in the order of its arguments; undefined where one is left out.
using Tensors = std::vector<Tensor>;
/// Calls of a hook: with the module and its inputs; and with its output. Inputs that are given back, as many, take the
/// inputs' place; a defined output takes the output's.
using ForwardPreHook = std::function<Tensors(const Module&, const Tensors& inputs)>;
using ForwardHook = std::function<Tensor(const Module&, const Tensors& inputs, const Tensor& y)>;

namespace detail {
void copy_module_state(const Module& from, const Module& to);
class FreshStatistics;
class Parametrization;

/// A class whose weight is computed by its own forward(): held as a base of it, it would use the old weight.
template <class M>
concept ComputesWeight = requires {
  typename M::ComputedLayer;
};
/// What register_module() gives of one: it becomes an M, and no base of it.
template <class M> class Unsliced {
 public:
  explicit Unsliced(M module) : module_(std::move(module)) {}
  template <std::same_as<M> T> operator T() && { return std::move(module_); }

 private:
  M module_;
};

/// Hooks of all modules: while there is none, a call does not look for one.
inline std::atomic<int> forward_hooks{0};
}  // namespace detail

class Module {
 public:
  Module();
  virtual ~Module() = default;
  Module(Module&&) noexcept = default;
  /// Where this is a registered layer and `other` belongs to no module, `other` takes its place in the parent, under
  /// its name: `net.head = nn::Linear(512, 10);`. An optimizer knows the old layer's parameters: make it afterwards.
  /// Error where `other` holds the parent. A layer that was moved from (std::exchange, std::swap with a free layer) has
  /// no place any more: assign first.
  Module& operator=(Module&& other);  // NOLINT(performance-noexcept-move-constructor)
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // ---- mode ----
  /// Training mode (the default) or not, for this module and all below it. Dropout and batch norm look at it.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;

  // ---- what it holds ----
  /// This module (named "") and all below it, parents first. The handles share the modules' state.
  std::vector<NamedModule> modules() const;
  /// Every parameter once, with its first name; parents first, in the order of registration.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<Tensor> parameters() const;
  /// Every buffer, saved or not.
  std::vector<NamedTensor> buffers() const;
  /// A parameter or buffer by its name below this module (`conv.weight`). Error where there is none.
  Tensor get_parameter(const std::string& name) const;
  Tensor get_buffer(const std::string& name) const;
  /// The number of elements of all parameters.
  int64_t parameter_count() const;
  /// The class, without its namespace: `Conv2d`.
  std::string type_name() const;
  /// The same for all handles of one module.
  const void* identity() const noexcept { return state_.get(); }
  /// Adds `in layer body.0 (Linear): ` to an error that was thrown in this module; nothing where it belongs to no
  /// other.
  void name_in(Error& error) const;

  /// The tree of modules with their options, as PyTorch prints it.
  std::string to_string() const;

  // ---- hooks ----
  /// Takes a hook off again; dropping it does not.
  class HookHandle;
  /// `hook(module, x, y)` after each call of this layer with a tensor x, that gave y; it may return another y, or
  /// nothing. A hook that takes `const Tensors&` instead of x sees all tensors of the call, the other its first. Of a
  /// layer that gives several tensors, y is the first. Modules that only have forward(), and no Layer as their base,
  /// are not seen.
  template <class F> HookHandle register_forward_hook(F hook);
  /// `hook(module, x)` before each call; it may return another x, or nothing. A hook that takes `const Tensors&` may
  /// return others in place of all; Error unless they are as many.
  template <class F> HookHandle register_forward_pre_hook(F hook);
  /// What the hooks make of the inputs and of an output.
  Tensors before_forward(const Tensors& inputs) const;
  Tensor after_forward(const Tensors& inputs, const Tensor& y) const;

  // ---- random numbers ----
  /// What this module and all below it draw in their calls comes from `generator`, which must outlive them, in place
  /// of the process's. A clone draws from the process's again.
  void set_generator(Generator& generator);

  // ---- state ----
  /// Parameters and saved buffers under PyTorch's names (`first.conv.weight`). The tensors share the module's memory:
  /// what is trained later shows in them.
  StateDict state_dict() const;
  /// state_dict() with the data copied.
  StateDict clone_state() const;
  /// Copies `state` into the existing memory, cast to its dtypes. Everything is checked before anything is written:
  /// Error where a shape differs, a key is missing or unexpected; the line names the first five, Error::items all of
  /// them. A batch norm's num_batches_tracked may be missing beside its averages, as in PyTorch, and stays then.
  LoadResult load_state_dict(const StateDict& state, const LoadOptions& options = {});

  // ---- changes ----
  /// Casts parameters, their gradients and floating buffers, in place: optimizers keep knowing them. DtypeError unless
  /// floating.
  void to(DType dtype);
  /// Moves parameters, buffers and gradients to `device`; optimizers keep knowing the parameters. DeviceError where
  /// there is no such device.
  void to(Device device);
  /// Calls `change` with every module below this one, then with this one.
  void apply(const std::function<void(Module&)>& change);
  /// Makes every gradient undefined.
  void zero_grad();
  /// Freezes (false) or unfreezes all parameters.
  void requires_grad_(bool value = true);

  /// What the handles of one module share; for nn/'s own files.
  struct State;

 protected:
  /// Makes `module` a child. Returns it, for a member to hold:
  ///   nn::Linear head = register_module("head", nn::Linear(8, 2));
  ///   nn::WeightNorm<nn::Linear> body = register_module("body", nn::weight_norm(nn::Linear(8, 8)));
  /// Error where the name is empty, holds a '.' or is taken, and for a base that was sliced out of a WeightNorm.
  template <class M> auto register_module(const std::string& name, M module) {
    adopt(name, module, typeid(M), detail::ComputesWeight<M>);
    if constexpr (detail::ComputesWeight<M>)
      return detail::Unsliced<M>(std::move(module));
    else
      return module;
  }
  /// Makes a leaf of `value` (unless it is one), names it, and returns it. An undefined tensor registers nothing.
  Tensor register_parameter(const std::string& name, const Tensor& value);
  /// A tensor that is part of the state but is not trained.
  Tensor register_buffer(const std::string& name, const Tensor& value, const BufferOptions& options = {});
  /// The options as the module prints them: `in_features=3, out_features=4`.
  void describe(std::string options);
  /// What forward() draws from; see set_generator().
  Generator& generator() const;
  bool has_generator() const;

 private:
  friend class ReplacedState;
  friend class BatchNorm;
  friend class detail::FreshStatistics;
  friend class detail::Parametrization;
  friend void detail::copy_module_state(const Module& from, const Module& to);
  explicit Module(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void check_name(const std::string& name) const;
  void adopt(const std::string& name, Module& module, const std::type_info& type, bool computes_weight = false);
  void check_child(const std::string& name, State& child) const;
  void link(const std::string& name, State& child, const std::type_info& type);
  void take_place(Module& other);
  State& state() const;
  HookHandle add_hook(ForwardPreHook before, ForwardHook after);

  std::shared_ptr<State> state_;
};

class Module::HookHandle {
 public:
  void remove();

 private:
  friend class Module;
  HookHandle(std::weak_ptr<State> state, int number) : state_(std::move(state)), number_(number) {}
  std::weak_ptr<State> state_;
  int number_;
};

namespace detail {
/// Calls `hook`; a Result of nothing where it gives nothing.
template <class Result, class F, class... Args> Result result_of(F& hook, const Args&... args) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const Args&...>>)
    return hook(args...), Result();
  else
    return hook(args...);
}
}  // namespace detail

template <class F> Module::HookHandle Module::register_forward_hook(F hook) {
  if constexpr (std::is_invocable_v<F&, const Module&, const Tensor&, const Tensor&>)
    return add_hook({}, [hook = std::move(hook)](const Module& module, const Tensors& in, const Tensor& y) mutable {
      return detail::result_of<Tensor>(hook, module, in.front(), y);
    });
  else
    return add_hook({}, [hook = std::move(hook)](const Module& module, const Tensors& in, const Tensor& y) mutable {
      return detail::result_of<Tensor>(hook, module, in, y);
    });
}

template <class F> Module::HookHandle Module::register_forward_pre_hook(F hook) {
  if constexpr (std::is_invocable_v<F&, const Module&, const Tensor&>)
    return add_hook(
        [hook = std::move(hook)](const Module& module, const Tensors& in) mutable {
          Tensors given = in;
          if (const Tensor x = detail::result_of<Tensor>(hook, module, in.front()); x.defined()) given.front() = x;
          return given;
        },
        {});
  else
    return add_hook(
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
