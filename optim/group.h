// Parameter groups with their own hyper-parameters.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "optim/hyper_parameters.h"
#include "tensor/tensor.h"

namespace weft::optim {

/// Turns the hyper-parameter fields into those of a parameter group: the parameters, and optional values that override
/// the optimizer's options.
struct AsGroup {
  using Number = std::optional<double>;
  using Count = std::optional<int64_t>;
  using Switch = std::optional<bool>;
  using Parameters = std::vector<Tensor>;
  static constexpr std::initializer_list<Tensor> none = {};
  static constexpr std::nullopt_t initial(double) { return std::nullopt; }
  static constexpr std::nullopt_t initial(int64_t) { return std::nullopt; }
  static constexpr std::nullopt_t initial(bool) { return std::nullopt; }
};

// Uses these functions, because GCC 12 has an internal error if their first use is in a default member initializer.
static_assert((AsGroup::initial(0.0), AsGroup::initial(int64_t{0}), AsGroup::initial(false), true));

using SGDGroup = SGDFields<AsGroup>;
using AdamGroup = AdamFields<AsGroup>;
using AdamWGroup = AdamGroup;  // values that a group does not set are the optimizer's
using RMSpropGroup = RMSpropFields<AsGroup>;
using AdagradGroup = AdagradFields<AsGroup>;
using AdadeltaGroup = AdadeltaFields<AsGroup>;
using AdamaxGroup = AdamaxFields<AsGroup>;
using NAdamGroup = NAdamFields<AsGroup>;
using RAdamGroup = RAdamFields<AsGroup>;
using LionGroup = LionFields<AsGroup>;
using LAMBGroup = LAMBFields<AsGroup>;
using ASGDGroup = ASGDFields<AsGroup>;
using RpropGroup = RpropFields<AsGroup>;
using AdafactorGroup = AdafactorFields<AsGroup>;
using MuonGroup = MuonFields<AsGroup>;

namespace detail {

/// The group type that belongs to an options type.
template <class Options> struct GroupOf;
template <template <class> class Fields> struct GroupOf<Fields<AsOptions>> { using type = Fields<AsGroup>; };
template <> struct GroupOf<AdamOptions> { using type = AdamGroup; };

template <class T> const T* set_value(const T& value) { return &value; }
template <class T> const T* set_value(const std::optional<T>& value) { return value ? &*value : nullptr; }

/// A copy of `to` in which every field that `from` sets is overwritten, matched by name: a group's values over the
/// options, or AdamW's options as Adam's.
template <class To, class From> To with_fields(To to, const From& from) {
  From::fields(from, [&](std::string_view name, const auto& given, Range) {
    const auto* value = set_value(given);
    To::fields(to, [&](std::string_view other, auto& field, Range) {
      if constexpr (std::is_same_v<decltype(*value), decltype(std::as_const(field))>)
        if (value != nullptr && name == other) field = *value;
    });
  });
  return to;
}

}  // namespace detail
}  // namespace weft::optim
