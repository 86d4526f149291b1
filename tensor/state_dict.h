// StateDict: tensors by name. What modules and optimizers give and take, and what files hold. And the tensors in what a
// function returns, of which a state dict may be a part.
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// `first.conv.weight` and so on, in the order of the names.
using StateDict = std::map<std::string, Tensor>;

namespace detail {

/// Whether a T is a tensor, a list or state dict of tensors, or a std::pair, std::tuple or std::array of these.
template <class T>
inline constexpr bool is_made_of_tensors =
    std::same_as<T, Tensor> || std::same_as<T, std::vector<Tensor>> || std::same_as<T, StateDict>;
template <class... Parts>
inline constexpr bool is_made_of_tensors<std::tuple<Parts...>> = (is_made_of_tensors<Parts> && ...);
template <class A, class B>
inline constexpr bool is_made_of_tensors<std::pair<A, B>> = is_made_of_tensors<A>&& is_made_of_tensors<B>;
template <class T, size_t n> inline constexpr bool is_made_of_tensors<std::array<T, n>> = is_made_of_tensors<T>;

/// Calls visit(tensor, name) for each tensor in `x`, in order, where the name is null outside of a state dict. What is
/// not made of tensors is left out.
template <class T, class Visit> void visit_tensors(T& x, const Visit& visit) {
  if constexpr (std::same_as<T, Tensor>)
    visit(x, nullptr);
  else if constexpr (std::same_as<T, std::vector<Tensor>>)
    for (Tensor& one : x) visit(one, nullptr);
  else if constexpr (std::same_as<T, StateDict>)
    for (auto& [name, one] : x) visit(one, &name);
  else if constexpr (requires { std::tuple_size<T>::value; })
    std::apply([&](auto&... parts) { (visit_tensors(parts, visit), ...); }, x);
}

}  // namespace detail

}  // namespace weft
