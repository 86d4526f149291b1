// Finding the tensors in the arguments of a Function.
#pragma once

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft::autograd {

/// Whether a type holds no tensors, so that a Function accepts it as an argument without searching it: numbers, enums,
/// functions, and trivially copyable structs of them. Specialize it for your own class that holds no tensors but, for
/// example, a std::string.
template <class T> inline constexpr bool holds_no_tensors = std::is_trivially_copyable_v<T> || std::is_function_v<T>;
template <class T> inline constexpr bool holds_no_tensors<T*> = std::is_arithmetic_v<T> || std::is_function_v<T>;
template <class T> inline constexpr bool holds_no_tensors<std::reference_wrapper<T>> = false;

namespace function_detail {

template <class T>
concept OptionalValue = std::same_as<T, std::optional<typename T::value_type>>;
// Instead of <ranges>, which would make programs that include weft.h compile a tenth slower.
template <class T>
concept Range = requires(const T& list) {
  std::begin(list);
  std::end(list);
};
template <class T> using ValueIn = std::iter_value_t<decltype(std::begin(std::declval<const T&>()))>;
template <class T>
concept TupleOfValues = requires {
  std::tuple_size<T>::value;
}
&&!Range<T>;
/// A range whose elements are not of its own type (as those of std::filesystem::path are).
template <class T>
concept ListOfValues = Range<T> && !std::same_as<ValueIn<T>, T>;
/// Appends the tensors in `argument`, in order. An empty std::optional<Tensor> is appended as an undefined tensor.
template <class T> void collect(std::vector<Tensor>& tensors, const T& argument) {
  if constexpr (std::derived_from<T, Tensor>) {
    tensors.push_back(argument);
  } else if constexpr (std::same_as<T, std::optional<Tensor>>) {
    tensors.push_back(argument.value_or(Tensor()));
  } else if constexpr (OptionalValue<T>) {
    if (argument) collect(tensors, *argument);
  } else if constexpr (TupleOfValues<T>) {
    std::apply([&](const auto&... parts) { (collect(tensors, parts), ...); }, argument);
  } else if constexpr (ListOfValues<T>) {
    if constexpr (!std::is_arithmetic_v<ValueIn<T>>)
      for (const auto& element : argument) collect(tensors, element);
  } else {
    static_assert(
        holds_no_tensors<T>,
        "Function::apply cannot look for tensors in an argument of this type, and their gradients would be "
        "lost: pass tensors as arguments of their own (or in a std::vector, std::optional or std::tuple); for "
        "a type without tensors, specialize weft::autograd::holds_no_tensors");
  }
}

}  // namespace function_detail
}  // namespace weft::autograd
