// AnyOp: a type-erased op descriptor. A descriptor is a plain struct in weft::op with a name, named attributes and no
// tensors. The recorded graph, the graph dump, observers and error texts use AnyOp.
#pragma once

#include "tensor/dispatch/op_info.h"
#include "tensor/memory/allocator.h"

namespace weft {

/// A descriptor of any type. Small descriptors are stored inside of the object, others on the heap.
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
  OpCode code() const noexcept { return *info_->code; }
  bool is_view() const noexcept { return info_->view != nullptr; }
  /// For a view op: the view that it takes of `in`.
  std::optional<View> view(const View& in) const { return info_->view(get(), in); }
  const void* get() const noexcept { return is_heap() ? heap_ : inline_; }
  void* get() noexcept { return is_heap() ? heap_ : inline_; }
  /// Whether the descriptor's type is `Op`.
  template <class Op> bool is() const noexcept { return info_ == &op_info<Op>; }
  /// The descriptor; `Op` must be its type.
  template <class Op> const Op& as() const noexcept { return *static_cast<const Op*>(get()); }
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
