// Containers: Sequential runs layers of any kind one after the other, ModuleList holds modules that their owner runs.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nn/layers/batch_norm.h"
#include "nn/layers/flatten.h"
#include "nn/module/layer.h"

namespace weft::nn {

/// A function of a tensor that is no module: `[](const Tensor& x) { return x * 2.0; }`.
template <class F>
concept TensorFunction = !std::derived_from<F, Module> && requires(const F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <class M>
concept SequentialStep = HasForward<M> || TensorFunction<M>;

/// A batch norm of which one class defines both forward() and forward_relu(). A class derived from it that has a
/// forward() of its own runs as a layer like any other.
template <class M>
concept FusibleNorm = std::derived_from<M, BatchNorm> && requires {
  requires std::same_as<decltype(&M::forward), decltype(&M::forward_relu)>;
};

/// Any modules with `Tensor forward(const Tensor&)`, or functions, each fed with the one before. Their names are "0",
/// "1", ... unless given: `Sequential net(Linear(784, 128), ReLU(), Linear(128, 10));` A batch norm, the ReLU behind it
/// and a MaxPool2d behind both run as one op; observers see all three layers. So do, in evaluation and without
/// history, a Conv2d, the BatchNorm2d behind it and its ReLU, unless something observes.
class Sequential : public Layer<Sequential> {
 public:
  template <SequentialStep... Ms> explicit Sequential(Ms... modules) { (push_back(std::move(modules)), ...); }

  template <SequentialStep M> void push_back(M module) { push_back(std::to_string(steps_.size()), std::move(module)); }
  template <TensorFunction F> void push_back(const std::string& name, F f) { push_back(name, Lambda(std::move(f))); }
  template <HasForward M> void push_back(const std::string& name, M module) {
    steps_.push_back(std::make_unique<StepOf<M>>(name, register_module(name, std::move(module))));
  }

  Tensor forward(const Tensor& x) const;
  /// Error where a step has neither a remake() nor a default constructor.
  Sequential remake() const;
  size_t size() const { return steps_.size(); }
  /// The module at `index`, which must be an M: `net.at<nn::Linear>(0).weight()`. Error where it is not.
  template <class M> M& at(size_t index) const {
    if (index >= steps_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " modules"));
    auto* step = dynamic_cast<StepOf<M>*>(steps_[index].get());
    if (step == nullptr) throw Error(text("module ", index, " of this Sequential is of another type"));
    return step->module;
  }

 private:
  /// Whether forward() runs a batch norm together with what is behind it: one of whose forward() a class derived from
  /// it has no version of its own.
  enum class Fusible { no, batch_norm, batch_norm2d };
  template <class M> static constexpr Fusible fusible() {
    if constexpr (!FusibleNorm<M>)
      return Fusible::no;
    else
      return std::same_as<decltype(&M::forward), decltype(&BatchNorm2d::forward)> && std::derived_from<M, BatchNorm2d>
                 ? Fusible::batch_norm2d
                 : Fusible::batch_norm;
  }

  struct Step {
    Step(std::string its_name, Fusible its_fusion) : name(std::move(its_name)), fusion(its_fusion) {}
    virtual ~Step() = default;
    virtual const Module& layer() const = 0;
    virtual Tensor run(const Tensor& x) = 0;
    /// Tells observers that this step gave `y` as a part of the step before it.
    virtual void announce(const Tensor& y) = 0;
    /// Appends a step like this one.
    virtual void remake(Sequential& out) const = 0;
    /// The layer, where it is an M and of no type derived from it.
    template <class M> const M* exactly() const {
      const Module& module = layer();
      return typeid(module) == typeid(M) ? static_cast<const M*>(&module) : nullptr;
    }
    const BatchNorm* batch_norm() const {
      return fusion == Fusible::no ? nullptr : static_cast<const BatchNorm*>(&layer());
    }
    const BatchNorm2d* batch_norm2d() const {
      return fusion == Fusible::batch_norm2d ? static_cast<const BatchNorm2d*>(&layer()) : nullptr;
    }
    std::string name;
    Fusible fusion;
  };
  template <class M> struct StepOf final : Step {
    StepOf(std::string its_name, M m) : Step(std::move(its_name), fusible<M>()), module(std::move(m)) {}
    const Module& layer() const override { return module; }
    Tensor run(const Tensor& x) override { return run_layer(module, x); }
    void announce(const Tensor& y) override {
      (void)in_layer(
          module, [](const Tensor& given) { return given; }, y);
    }
    void remake(Sequential& out) const override {
      if constexpr (Clonable<M>)
        out.push_back(name, detail::remade(module));
      else
        throw Error(
            text("step `", name, "` (", module.type_name(), ") has neither remake() nor a default constructor"));
    }
    M module;
  };

  /// Whether step `index` is there and an M.
  template <class M> bool is_layer(size_t index) const {
    return index < steps_.size() && steps_[index]->template exactly<M>() != nullptr;
  }
  /// How many steps from `index` on run as one op.
  size_t fused_steps(size_t index) const;
  /// The same of a convolution at `index` with the batch norm behind it, and its relu; 0: none.
  size_t conv_norm_steps(size_t index, const Tensor& x) const;

  std::vector<std::unique_ptr<Step>> steps_;
};

namespace detail {
/// Over modules that are held by pointers.
template <class M, class Item> class ItemIterator {
 public:
  explicit ItemIterator(const Item* at) : at_(at) {}
  M& operator*() const { return *at_->module; }
  M* operator->() const { return at_->module.get(); }
  ItemIterator& operator++() { return ++at_, *this; }
  bool operator==(const ItemIterator&) const = default;

 private:
  const Item* at_;
};
}  // namespace detail

/// Modules of one type, or of types derived from it, under the names "0", "1", ...; the owner runs them. M may be a
/// class of the user's that says how the modules are called:
///   struct Flow : nn::Module { virtual Tensor forward(const Tensor& x) = 0; };
///   nn::ModuleList<Flow> flows = register_module("flows", nn::ModuleList<Flow>());
///   flows.push_back(Coupling(4));  // a Flow
template <std::derived_from<Module> M> class ModuleList : public Module {
 public:
  ModuleList() = default;
  template <std::derived_from<M> Kind> void push_back(Kind module) {
    Item item;
    item.module = std::make_unique<Kind>(register_module(std::to_string(items_.size()), std::move(module)));
    if constexpr (Clonable<Kind>)
      item.append_remade = [](const M& from, ModuleList& out) {
        out.push_back(detail::remade(static_cast<const Kind&>(from)));
      };
    items_.push_back(std::move(item));
  }

  /// Error where a module has neither a remake() nor a default constructor.
  ModuleList remake() const {
    ModuleList out;
    for (const Item& item : items_) {
      if (item.append_remade == nullptr)
        throw Error(text("module ", out.size(), " (", item.module->type_name(),
                         ") has neither remake() nor a default constructor"));
      item.append_remade(*item.module, out);
    }
    return out;
  }
  size_t size() const { return items_.size(); }
  M& operator[](size_t index) {
    if (index >= items_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " modules"));
    return *items_[index].module;
  }
  auto begin() { return detail::ItemIterator<M, Item>(items_.data()); }
  auto end() { return detail::ItemIterator<M, Item>(items_.data() + items_.size()); }
  auto begin() const { return detail::ItemIterator<const M, Item>(items_.data()); }
  auto end() const { return detail::ItemIterator<const M, Item>(items_.data() + items_.size()); }

 private:
  struct Item {
    std::unique_ptr<M> module;
    void (*append_remade)(const M& module, ModuleList& out) = nullptr;
  };
  std::vector<Item> items_;
};

/// Modules of one type by name, in the order they came; the owner runs them.
template <std::derived_from<Module> M> class ModuleDict : public Module {
 public:
  ModuleDict() = default;
  void insert(const std::string& name, M module) {
    items_.emplace_back(name, register_module(name, std::move(module)));
  }

  ModuleDict remake() const requires Clonable<M> {
    ModuleDict out;
    for (const auto& [name, module] : items_) out.insert(name, detail::remade(module));
    return out;
  }
  size_t size() const { return items_.size(); }
  bool contains(const std::string& name) const { return find(name) != items_.size(); }
  /// Error where there is none of this name.
  M& operator[](const std::string& name) {
    const size_t at = find(name);
    if (at == items_.size()) throw Error(text("there is no module `", name, "`"));
    return items_[at].second;
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  size_t find(const std::string& name) const {
    size_t at = 0;
    while (at < items_.size() && items_[at].first != name) ++at;
    return at;
  }
  std::vector<std::pair<std::string, M>> items_;
};

/// Parameters under the names "0", "1", ...
class ParameterList : public Module {
 public:
  ParameterList() = default;
  /// Makes a parameter of `value`, unless it is one, and returns it.
  Tensor push_back(const Tensor& value) {
    items_.push_back(register_parameter(std::to_string(items_.size()), value));
    return items_.back();
  }

  ParameterList remake() const {
    ParameterList out;
    for (const Tensor& item : items_) out.push_back(item.detach().clone());
    return out;
  }
  size_t size() const { return items_.size(); }
  Tensor operator[](size_t index) const {
    if (index >= items_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " parameters"));
    return items_[index];
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<Tensor> items_;
};

/// Parameters by name, in the order they came.
class ParameterDict : public Module {
 public:
  ParameterDict() = default;
  /// Makes a parameter of `value`, unless it is one, and returns it.
  Tensor insert(const std::string& name, const Tensor& value) {
    items_.emplace_back(name, register_parameter(name, value));
    return items_.back().second;
  }

  ParameterDict remake() const {
    ParameterDict out;
    for (const auto& [name, item] : items_) out.insert(name, item.detach().clone());
    return out;
  }
  size_t size() const { return items_.size(); }
  bool contains(const std::string& name) const {
    for (const auto& [own, item] : items_)
      if (own == name) return true;
    return false;
  }
  /// Error where there is none of this name.
  Tensor operator[](const std::string& name) const { return get_parameter(name); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, Tensor>> items_;
};

}  // namespace weft::nn
