// Ops as data. A descriptor is a plain struct in weft::op with a name, named attributes and no tensors; AnyOp is one of
// them with its type erased, which is what the tape, the graph dump, observers and error texts read.
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tensor/core/dtype.h"
#include "tensor/core/scalar.h"
#include "tensor/core/view.h"
#include "tensor/op_list.h"

namespace weft {

namespace detail {
void* allocate_object(size_t bytes);
void free_object(void* object, size_t bytes) noexcept;

std::string attribute_text(bool value);
std::string attribute_text(int64_t value);
inline std::string attribute_text(int value) { return attribute_text(static_cast<int64_t>(value)); }
std::string attribute_text(uint64_t value);
std::string attribute_text(double value);
std::string attribute_text(const Scalar& value);
std::string attribute_text(const std::string& value);
std::string attribute_text(std::string_view value);
std::string attribute_text(DType value);
std::string attribute_text(const IntList& value);
std::string attribute_text(const std::vector<Interval>& value);
std::string attribute_text(const std::vector<Padding>& value);
std::string attribute_text(const View& value);
template <class T>
std::string attribute_text(const std::optional<T>& value) {
  return value ? attribute_text(*value) : std::string("none");
}
}  // namespace detail

/// An op that is only a function from View to View: there is no place where a copy could be made.
template <class Op>
concept ViewOp = requires(const Op& op, const View& view) {
  { op.view(view) } -> std::same_as<std::optional<View>>;
};

/// What is known of a kind of op. One static object per descriptor type.
struct OpInfo {
  std::string_view name;
  OpCode code;
  size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* op) noexcept;
  bool (*equal)(const void* a, const void* b);
  std::string (*attributes)(const void* op);                    // `axis=1, keepdim=true`
  std::optional<View> (*view)(const void* op, const View& in);  // null unless it is a view op
};

namespace detail {
/// One more attribute in a list of them.
void append_attribute(std::string& list, std::string_view name, const std::string& value);

/// Descriptors name their attributes to whoever visits them: `void attributes(auto visit) const { visit("axis", axis); }`.
template <class Op>
std::string attributes_of(const void* erased) {
  std::string out;
  static_cast<const Op*>(erased)->attributes([&](std::string_view name, const auto& value) {
    using weft::detail::attribute_text;
    append_attribute(out, name, attribute_text(value));
  });
  return out;
}

template <class Op>
constexpr auto view_function() -> std::optional<View> (*)(const void*, const View&) {
  if constexpr (ViewOp<Op>)
    return [](const void* op, const View& in) { return static_cast<const Op*>(op)->view(in); };
  else
    return nullptr;
}
}  // namespace detail

template <class Op>
inline constexpr OpInfo op_info = {
    Op::name,
    op_code<Op>,
    sizeof(Op),
    [](void* to, const void* from) { new (to) Op(*static_cast<const Op*>(from)); },
    [](void* op) noexcept { static_cast<Op*>(op)->~Op(); },
    [](const void* a, const void* b) { return *static_cast<const Op*>(a) == *static_cast<const Op*>(b); },
    &detail::attributes_of<Op>,
    detail::view_function<Op>(),
};

/// A descriptor of any type; small ones live inside it.
class AnyOp {
 public:
  template <class Op>
    requires(!std::same_as<std::remove_cvref_t<Op>, AnyOp>)
  explicit AnyOp(const Op& op) : info_(&op_info<Op>) { info_->copy(allocate(), &op); }
  AnyOp(const OpInfo& info, const void* op) : info_(&info) { info_->copy(allocate(), op); }
  AnyOp(const AnyOp& other) : info_(other.info_) { info_->copy(allocate(), other.get()); }
  AnyOp& operator=(const AnyOp& other) {
    if (this != &other) {
      this->~AnyOp();
      new (this) AnyOp(other);
    }
    return *this;
  }
  ~AnyOp() {
    info_->destroy(get());
    if (is_heap()) detail::free_object(heap_, info_->size);
  }

  const OpInfo& info() const noexcept { return *info_; }
  std::string_view name() const noexcept { return info_->name; }
  OpCode code() const noexcept { return info_->code; }
  bool is_view() const noexcept { return info_->view != nullptr; }
  /// The view this (view) op takes of `in`.
  std::optional<View> view(const View& in) const { return info_->view(get(), in); }
  const void* get() const noexcept { return is_heap() ? heap_ : inline_; }
  void* get() noexcept { return is_heap() ? heap_ : inline_; }
  /// The descriptor; `Op` must be its type.
  template <class Op>
  const Op& as() const noexcept {
    return *static_cast<const Op*>(get());
  }
  bool operator==(const AnyOp& other) const { return info_ == other.info_ && info_->equal(get(), other.get()); }
  /// `softmax(axis=1)`
  std::string to_string() const;

 private:
  static constexpr size_t kInline = 48;
  bool is_heap() const noexcept { return info_->size > kInline; }
  void* allocate() { return is_heap() ? (heap_ = detail::allocate_object(info_->size)) : inline_; }

  const OpInfo* info_;
  union {
    alignas(16) unsigned char inline_[kInline] = {};
    void* heap_;
  };
};

inline std::string attribute_text(const AnyOp& value) { return value.to_string(); }

}  // namespace weft
