#include "nn/layers/containers.h"

#include <unordered_map>

namespace weft::nn {

namespace {

/// Copies of `tensors`, undefined ones where those are. One that is there twice has one copy, as clone() requires.
std::vector<Tensor> remade_tensors(const std::vector<Tensor>& tensors) {
  std::unordered_map<const internal::TensorBody*, Tensor> copies;
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) {
    Tensor copy;
    if (x.defined()) copy = copies.try_emplace(&internal::body(x), x.detach().clone()).first->second;
    out.push_back(copy);
  }
  return out;
}

}  // namespace

void detail::check_place(size_t index, size_t size, const char* what) {
  if (index > size)
    throw IndexError(text("index ", static_cast<int64_t>(index), " is no place to insert at in ", size, " ", what));
}

void detail::check_other(const Module& container, const Module& other) {
  if (&container == &other) throw Error(text("a ", container.type_name(), " cannot take its own modules"));
}

std::vector<detail::Renamed> detail::with_last_at(size_t index, size_t size) {
  std::vector<Renamed> out = {{std::to_string(size), std::to_string(index)}};
  for (size_t i = index; i < size; ++i) out.push_back({std::to_string(i), std::to_string(i + 1)});
  return out;
}

std::vector<detail::Renamed> detail::without(size_t index, size_t size) {
  std::vector<Renamed> out = {{std::to_string(index), ""}};
  for (size_t i = index + 1; i < size; ++i) out.push_back({std::to_string(i), std::to_string(i - 1)});
  return out;
}

std::vector<detail::Renamed> detail::without_all(size_t size) {
  std::vector<Renamed> out;
  for (size_t i = 0; i < size; ++i) out.push_back({std::to_string(i), ""});
  return out;
}

Tensor ParameterList::push_back(const Tensor& value) {
  const Tensor held = value;  // it may be an item of this list, which make_room() moves
  detail::make_room(items_);
  items_.push_back(register_parameter(std::to_string(items_.size()), held));
  return items_.back();
}
Tensor ParameterList::insert(size_t index, const Tensor& value) {
  detail::check_place(index, size(), "parameters");
  const std::vector<detail::Renamed> names = detail::with_last_at(index, size());
  const Tensor held = value;
  detail::make_room(items_);
  Tensor leaf = register_parameter(names.front().from, held);
  rearrange_parameters(names, names.front().from);
  return *items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(index), std::move(leaf));
}
Tensor ParameterList::pop(size_t index) {
  Tensor out = (*this)[index];
  rearrange_parameters(detail::without(index, size()));
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(index));
  return out;
}
void ParameterList::clear() {
  rearrange_parameters(detail::without_all(size()));
  items_.clear();
}
ParameterList ParameterList::remake() const {
  ParameterList out;
  for (const Tensor& copy : remade_tensors(items_)) out.push_back(copy);
  return out;
}
Tensor ParameterList::operator[](size_t index) const {
  if (index >= items_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " parameters"));
  return items_[index];
}

Tensor ParameterDict::insert(const std::string& name, const Tensor& value) {
  std::string own = name;  // both may be of an item, which make_room() moves
  const Tensor held = value;
  items_.make_room(own);
  Tensor leaf = register_parameter(own, held);
  items_.push_back({std::move(own), std::move(leaf)});
  return items_[items_.size() - 1].second;
}
Tensor ParameterDict::pop(const std::string& name) {
  const size_t at = items_.find(name);
  if (at == present(items_).size()) throw Error(text("there is no parameter `", name, "`"));
  return items_.take(at, [&] { rearrange_parameters({{name, ""}}); }).second;
}
void ParameterDict::clear() {
  std::vector<detail::Renamed> names;
  for (const auto& [name, item] : present(items_)) names.push_back({name, ""});
  rearrange_parameters(names);
  items_ = {};
}
ParameterDict ParameterDict::remake() const {
  ParameterDict out;
  std::vector<Tensor> tensors;
  for (const auto& [name, item] : items_) tensors.push_back(item);
  const std::vector<Tensor> copies = remade_tensors(tensors);
  for (size_t i = 0; i < copies.size(); ++i) out.insert(items_[i].first, copies[i]);
  return out;
}
bool ParameterDict::contains(const std::string& name) const { return items_.contains(name); }

}  // namespace weft::nn
