// Containers: Sequential runs layers one after the other. ModuleList, ModuleDict, ParameterList and ParameterDict hold
// modules or parameters that their owner uses.
#pragma once

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nn/layers/batch_norm.h"
#include "nn/layers/flatten.h"
#include "nn/module/layer.h"
#include "nn/module/named_list.h"
#include "tensor/core/owned.h"

namespace weft::nn {

/// A function of a tensor that is not a module: `[](const Tensor& x) { return x * 2.0; }`.
template <class F>
concept TensorFunction = !std::derived_from<F, Module> && requires(const F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <class M>
concept SequentialStep = HasForward<M> || TensorFunction<M>;

/// A batch norm whose forward() and forward_relu() are defined by the same class. A derived class that overrides
/// forward() is not fused; it runs like any other layer.
template <class M>
concept FusibleNorm = std::derived_from<M, BatchNorm> && requires {
  requires std::same_as<decltype(&M::forward), decltype(&M::forward_relu)>;
};

/// Runs modules with `Tensor forward(const Tensor&)`, or functions, one after the other. Their names are "0", "1", ...
/// unless given: `Sequential net(Linear(784, 128), ReLU(), Linear(128, 10));` Some layers are fused. A batch norm, a
/// following ReLU and a following MaxPool2d run as one op, and observers still see all the layers. In evaluation and
/// without history, a Conv2d, its BatchNorm2d and a following ReLU run as one op unless an observer is active.
class Sequential : public Layer<Sequential> {
 public:
  template <SequentialStep... Ms> explicit Sequential(Ms... modules) { (push_back(std::move(modules)), ...); }
  template <class... Ms>
    requires(!(SequentialStep<Ms> && ...))
  explicit Sequential(Ms...) = delete;  // a step has a public Tensor forward(const Tensor&), or is a function of one

  template <SequentialStep M> void push_back(M module) { push_back(std::to_string(steps_.size()), std::move(module)); }
  template <TensorFunction F> void push_back(const std::string& name, F f) { push_back(name, Lambda(std::move(f))); }
  template <HasForward M> void push_back(const std::string& name, M module) {
    auto* const step = new StepOf<M>(name, std::move(module));
    Owned<Step> owner(step);
    detail::make_room(steps_);
    register_module(name, step->module);
    steps_.push_back(std::move(owner));
  }

  Tensor forward(const Tensor& x) const;
  /// Runs only the modules `first` .. `last` - 1, as for the features that layers in the middle compute. IndexError
  /// unless first <= last <= size().
  Tensor forward(const Tensor& x, size_t first, size_t last) const;
  /// Error if a step has neither remake() nor a default constructor.
  Sequential remake() const;
  size_t size() const { return steps_.size(); }
  /// The module at `index`, which must have type M: `net.at<nn::Linear>(0).weight()`. Error if it has another type,
  /// IndexError if `index` is out of range.
  template <class M> M& at(size_t index) const {
    if (index >= steps_.size())
      throw IndexError(text("index ", static_cast<int64_t>(index), " is out of range for ", size(), " modules"));
    auto* step = dynamic_cast<StepOf<M>*>(steps_[index].get());
    if (step == nullptr)
      throw Error(text("module ", index, " of this Sequential is a ", steps_[index]->layer().type_name(),
                       ", not of the type asked for"));
    return step->module;
  }

 private:
  /// How forward() may fuse a module with the layers after it: only a batch norm whose forward() is not overridden.
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
    /// Reports to observers that this step, fused into the previous one, returned `y`.
    virtual void announce(const Tensor& y) = 0;
    /// Appends a step like this one.
    virtual void remake(Sequential& out) const = 0;
    /// The layer, if its type is exactly M; else null.
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

  /// Whether step `index` is before `last` and exactly an M.
  template <class M> bool is_layer(size_t index, size_t last) const {
    return index < last && steps_[index]->template exactly<M>() != nullptr;
  }
  /// The number of steps before `last`, starting at `index`, that run as one op.
  size_t fused_steps(size_t index, size_t last) const;
  /// The number of steps to fuse for a convolution at `index` with its batch norm and ReLU; 0 if they are not fused.
  size_t conv_norm_steps(size_t index, size_t last, const Tensor& x) const;

  std::vector<Owned<Step>> steps_;
};

/// model(x), where the modules are divided into `segments` parts of equal length (the last has what is left over), and
/// all parts but the last run in autograd::checkpoint(): only their inputs are kept for backward, which runs them
/// again. The model must exist until then. Error unless 1 <= segments <= model.size().
Tensor checkpoint_sequential(const Sequential& model, int64_t segments, const Tensor& x);

namespace detail {
/// Iterator over modules held by pointers.
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

/// A list of modules of type M or derived from it, named "0", "1", ...; the owner calls them. M may be a user-defined
/// base class that declares how the modules are called:
///   struct Flow : nn::Module { virtual Tensor forward(const Tensor& x) = 0; };
///   nn::ModuleList<Flow> flows = register_module("flows", nn::ModuleList<Flow>());
///   flows.push_back(Coupling(4));  // a Flow
template <std::derived_from<Module> M> class ModuleList : public Module {
 public:
  /// Whether a Kind called as an M would use the weight from before weight_norm() or spectral_norm(): whether M is the
  /// layer that was normed, or a base of it.
  template <class Kind> static constexpr bool kUsesOldWeight = !std::same_as<M, Module> && requires {
    requires std::derived_from<typename Kind::ComputedLayer, M>;
  };

  ModuleList() = default;
  template <std::derived_from<M> Kind>
    requires kUsesOldWeight<Kind>
  void push_back(Kind) = delete;  // hold it as what weight_norm() gives: a ModuleList<WeightNorm<Linear>>
  template <std::derived_from<M> Kind>
    requires(!kUsesOldWeight<Kind>)
  void push_back(Kind module) {
    Item item;
    Owned<Kind> owned(new Kind(std::move(module)));
    if constexpr (Clonable<Kind>)
      item.append_remade = [](const M& from, ModuleList& out) {
        out.push_back(detail::remade(static_cast<const Kind&>(from)));
      };
    detail::make_room(items_);
    register_module(std::to_string(items_.size()), *owned);
    item.module = std::move(owned);
    items_.push_back(std::move(item));
  }

  /// Error if a module has neither remake() nor a default constructor.
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
  size_t size() const { return present(items_).size(); }
  M& operator[](size_t index) { return *at(index).module; }
  const M& operator[](size_t index) const { return *at(index).module; }
  auto begin() { return detail::ItemIterator<M, Item>(present(items_).data()); }
  auto end() { return detail::ItemIterator<M, Item>(items_.data() + items_.size()); }
  auto begin() const { return detail::ItemIterator<const M, Item>(present(items_).data()); }
  auto end() const { return detail::ItemIterator<const M, Item>(items_.data() + items_.size()); }

 private:
  struct Item {
    Owned<M> module;
    void (*append_remade)(const M& module, ModuleList& out) = nullptr;
  };
  const Item& at(size_t index) const {
    if (index >= items_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " modules"));
    return items_[index];
  }
  std::vector<Item> items_;
};

/// Modules of one type by name, in insertion order; the owner calls them.
template <std::derived_from<Module> M> class ModuleDict : public Module {
 public:
  ModuleDict() = default;
  void insert(const std::string& name, M module) {
    std::string own = name;  // `name` may be that of an item, which make_room() moves
    items_.make_room(own);
    M registered = register_module(own, std::move(module));
    items_.push_back({std::move(own), std::move(registered)});
  }

  ModuleDict remake() const requires Clonable<M> {
    ModuleDict out;
    for (const auto& [name, module] : items_) out.insert(name, detail::remade(module));
    return out;
  }
  size_t size() const { return present(items_).size(); }
  bool contains(const std::string& name) const { return items_.contains(name); }
  /// Error if there is no module of this name.
  M& operator[](const std::string& name) { return items_[place(name)].second; }
  const M& operator[](const std::string& name) const { return items_[place(name)].second; }
  auto begin() { return (void)present(items_), items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return present(items_).begin(); }
  auto end() const { return items_.end(); }

 private:
  size_t place(const std::string& name) const {
    const size_t at = items_.find(name);
    if (at == items_.size()) throw Error(text("there is no module `", name, "`"));
    return at;
  }
  detail::NamedList<std::pair<std::string, M>> items_;
};

/// A list of parameters, named "0", "1", ...
class ParameterList : public Module {
 public:
  ParameterList() = default;
  /// Registers `value` as a parameter, as register_parameter() does, and returns it.
  Tensor push_back(const Tensor& value);

  ParameterList remake() const;
  size_t size() const { return present(items_).size(); }
  Tensor operator[](size_t index) const;
  auto begin() const { return present(items_).begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<Tensor> items_;
};

/// Parameters by name, in insertion order.
class ParameterDict : public Module {
 public:
  ParameterDict() = default;
  /// Registers `value` as a parameter, as register_parameter() does, and returns it.
  Tensor insert(const std::string& name, const Tensor& value);

  ParameterDict remake() const;
  size_t size() const { return present(items_).size(); }
  bool contains(const std::string& name) const;
  /// Error if there is no parameter of this name.
  Tensor operator[](const std::string& name) const { return get_parameter(name); }
  auto begin() const { return present(items_).begin(); }
  auto end() const { return items_.end(); }

 private:
  detail::NamedList<std::pair<std::string, Tensor>> items_;
};

}  // namespace weft::nn
