// Containers: ModuleList, ModuleDict, ParameterList and ParameterDict hold modules or parameters that their owner uses.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nn/module/clone.h"
#include "nn/module/named_list.h"
#include "tensor/core/owned.h"

namespace weft::nn {

namespace detail {
/// IndexError unless `index` is a place to insert an item at, among `size` that are called `what`.
void check_place(size_t index, size_t size, const char* what);
/// Error if a container is to take the modules of itself, which would lose them.
void check_other(const Module& container, const Module& other);
/// The names of `size` items that are numbered, and their new names: after the last, number `size`, moved to `index`;
/// without the one at `index`; and without all.
std::vector<Renamed> with_last_at(size_t index, size_t size);
std::vector<Renamed> without(size_t index, size_t size);
std::vector<Renamed> without_all(size_t size);

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
  /// Whether a Kind called as an M would use the old weight of a layer whose weight is computed (weight_norm(), prune()
  /// and their like): whether M is that layer's class, or a base of it.
  template <class Kind> static constexpr bool kUsesOldWeight = !std::same_as<M, Module> && requires {
    requires std::derived_from<typename Kind::ComputedLayer, M>;
  };

  ModuleList() = default;
  template <std::derived_from<M> Kind>
    requires kUsesOldWeight<Kind>
  void push_back(Kind) = delete;  // hold it as what weight_norm() gives: a ModuleList<WeightNorm<Linear>>
  template <std::derived_from<M> Kind>
    requires(!kUsesOldWeight<Kind>)
  void push_back(Kind module) { items_.push_back(registered(std::move(module))); }
  template <std::derived_from<M> Kind>
    requires kUsesOldWeight<Kind>
  void insert(size_t, Kind) = delete;  // as push_back()
  /// Puts a module in front of the one at `index`, or behind the last one where that is size(); later ones are renamed.
  /// IndexError if `index` is out of range. An optimizer that exists does not know the new parameters.
  template <std::derived_from<M> Kind>
    requires(!kUsesOldWeight<Kind>)
  void insert(size_t index, Kind module) {
    detail::check_place(index, size(), "modules");
    const std::vector<detail::Renamed> names = detail::with_last_at(index, size());
    Item item = registered(std::move(module));
    rearrange_modules(names, names.front().from);
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(index), std::move(item));
  }
  /// Appends the modules of another list: `layers.extend(std::move(more));`. Error if it is this one.
  void extend(ModuleList&& other) {
    detail::check_other(*this, other);
    ModuleList given = std::move(other);
    given.rearrange_modules(detail::without_all(given.size()));
    for (Item& item : given.items_) {
      detail::make_room(items_);
      register_module(std::to_string(size()), *item.module);
      items_.push_back(std::move(item));
    }
  }
  /// Removes a module; later ones are renamed. IndexError if `index` is out of range.
  void erase(size_t index) { (void)take(index); }
  /// The same, and returns the module, which belongs to no module then; without an index, the last one. Error if it is
  /// of a class derived from M, which an M cannot hold.
  M pop(size_t index) requires(!std::is_abstract_v<M>) {
    if (M& module = *at(index).module; typeid(module) != typeid(M))
      throw Error(text("module ", index, " is a ", module.type_name(), ", derived from what pop() returns"));
    const Owned<M> module = take(index);
    return M(std::move(*module));
  }
  M pop() requires(!std::is_abstract_v<M>) { return pop(size() == 0 ? 0 : size() - 1); }
  void clear() {
    rearrange_modules(detail::without_all(size()));
    items_.clear();
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
  /// Registers a module behind the others, and makes room for it.
  template <class Kind> Item registered(Kind module) {
    Item item;
    Owned<Kind> owned(new Kind(std::move(module)));
    if constexpr (Clonable<Kind>)
      item.append_remade = [](const M& from, ModuleList& out) {
        out.push_back(detail::remade(static_cast<const Kind&>(from)));
      };
    detail::make_room(items_);
    register_module(std::to_string(items_.size()), *owned);
    item.module = std::move(owned);
    return item;
  }
  Owned<M> take(size_t index) {
    (void)at(index);
    rearrange_modules(detail::without(index, size()));
    Owned<M> out = std::move(items_[index].module);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(index));
    return out;
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
  /// Removes a module. Error if there is none of this name.
  void erase(const std::string& name) { (void)pop(name); }
  /// The same, and returns the module, which belongs to no module then.
  M pop(const std::string& name) {
    return items_.take(place(name), [&] { rearrange_modules({{name, ""}}); }).second;
  }
  void clear() {
    release();
    items_ = {};
  }
  /// Inserts the modules of another dict; they take the places of those that have their names. Error if it is this one.
  void update(ModuleDict&& other) {
    detail::check_other(*this, other);
    ModuleDict given = std::move(other);
    given.release();
    for (auto& [name, module] : given.items_) {
      if (contains(name))
        (*this)[name] = std::move(module);
      else
        insert(name, std::move(module));
    }
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
  void release() {
    std::vector<detail::Renamed> names;
    for (const auto& [name, module] : present(items_)) names.push_back({name, ""});
    rearrange_modules(names);
  }
  detail::NamedList<std::pair<std::string, M>> items_;
};

/// A list of parameters, named "0", "1", ...
class ParameterList : public Module {
 public:
  ParameterList() = default;
  /// Registers `value` as a parameter, as register_parameter() does, and returns it.
  Tensor push_back(const Tensor& value);
  /// The same in front of the parameter at `index`, or behind the last one where that is size(); later ones are
  /// renamed. IndexError if `index` is out of range.
  Tensor insert(size_t index, const Tensor& value);
  void extend(const std::vector<Tensor>& values) {
    for (const Tensor& value : std::vector<Tensor>(values)) push_back(value);
  }
  /// Removes and returns a parameter; later ones are renamed. Without an index, it is the last one. IndexError if there
  /// is none.
  Tensor pop(size_t index);
  Tensor pop() { return pop(size() == 0 ? 0 : size() - 1); }
  void erase(size_t index) { (void)pop(index); }
  void clear();

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
  /// Removes and returns a parameter. Error if there is none of this name.
  Tensor pop(const std::string& name);
  void erase(const std::string& name) { (void)pop(name); }
  void clear();

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
