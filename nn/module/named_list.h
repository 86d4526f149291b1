// A list of items with names, as modules and dictionaries hold them.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::nn::detail {

template <class Item> const std::string& name_of(const Item& item) { return item.name; }
template <class Value> const std::string& name_of(const std::pair<std::string, Value>& item) { return item.first; }

/// Items in the order of their insertion, each under a name of its own. Once there are many, an index finds them.
template <class Item> class NamedList {
 public:
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  Item& operator[](size_t at) { return items_[at]; }
  const Item& operator[](size_t at) const { return items_[at]; }

  /// The place of the item called `name`; size() if there is none.
  size_t find(const std::string& name) const {
    if (places_.empty()) {
      size_t at = 0;
      while (at < size() && name_of(items_[at]) != name) ++at;
      return at;
    }
    const auto found = places_.find(name);
    // One for which make_room() was called need not have come.
    return found != places_.end() && found->second < size() && name_of(items_[found->second]) == name ? found->second
                                                                                                      : size();
  }
  bool contains(const std::string& name) const { return find(name) != size(); }

  /// Makes room for an item called `name`, so that push_back() of it cannot fail.
  void make_room(const std::string& name) {
    if (size() == items_.capacity()) items_.reserve(2 * size() + 1);
    if (size() < kFew) return;
    if (places_.empty()) {
      std::unordered_map<std::string, size_t> places;
      for (size_t at = 0; at < size(); ++at) places.emplace(name_of(items_[at]), at);
      places_ = std::move(places);
    }
    // A valid place stays: the caller may find out only later that the name is taken. Another one is replaced.
    const auto [place, is_new] = places_.try_emplace(name, size());
    if (!is_new && find(name) == size()) place->second = size();
  }
  void push_back(Item item) {
    make_room(name_of(item));
    items_.push_back(std::move(item));
  }
  void erase(size_t at) {
    places_.clear();  // those behind it move; the next push_back() makes a new index
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// Removes an item, after commit(), which is called when nothing else can fail. Items move to new memory: assigning
  /// one module to another would replace it in its parent.
  template <class Commit> Item take(size_t at, const Commit& commit) {
    std::vector<Item> kept;
    kept.reserve(items_.capacity());
    commit();
    Item out = std::move(items_[at]);
    for (size_t i = 0; i < size(); ++i)
      if (i != at) kept.push_back(std::move(items_[i]));
    places_.clear();
    items_ = std::move(kept);
    return out;
  }

 private:
  static constexpr size_t kFew = 16;

  std::vector<Item> items_;
  std::unordered_map<std::string, size_t> places_;  // empty while there are few
};

}  // namespace weft::nn::detail
