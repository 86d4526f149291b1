// Tensor: a small handle to a body {storage, view, dtype, history}. Copying a Tensor is O(1): both handles refer to the
// same body. clone() copies the data. Most members forward to the free function of the same name in tensor/functions,
// where it is documented.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/body.h"
#include "tensor/core/axes.h"
#include "tensor/core/close_options.h"
#include "tensor/core/error.h"
#include "tensor/core/scalar.h"

namespace weft {

/// The handle of a registered hook. remove() unregisters the hook; destroying the handle does not. The handle keeps the
/// tensor's history (its graph) alive.
class HookHandle {
 public:
  HookHandle(IntrusivePtr<Provenance> history, int number) : history_(std::move(history)), number_(number) {}
  void remove() { history_->remove_hook(number_); }

 private:
  IntrusivePtr<Provenance> history_;
  int number_;
};

class Generator;
/// The values that a reduction or sort selects along an axis, and their positions.
struct ValuesAndIndices;
/// One index of the list that x.index({...}) takes (functions/advanced_index.h).
class TensorIndex;
// Options and results of members; the headers of their functions define them.
struct HistogramOptions;
struct HistogramResult;
struct MinAndMax;
struct QrResult;
struct SlogdetResult;
struct UniqueOptions;
struct UniqueResult;
enum class QrMode;

namespace internal {
struct TensorAccess;
}

class Tensor {
 public:
  /// An undefined tensor: it has no data and means "absent" (no bias, no gradient). Using it in an op is an Error.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  /// Assignment to a variable makes it refer to another tensor.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Tensor& operator=(T) & = delete;  // x.fill_(value) writes it to all elements, tensor(value) makes a tensor of it
  /// Assignment to a temporary writes into its memory, as copy_ and fill_ do: `x[0] = y;`, `x[0] = 1.0;`. Error if no
  /// other tensor shares this memory, as for `x.index({mask})`, because the write would have no effect.
  Tensor& operator=(const Tensor& values) && { return seen_elsewhere("=").assign(values); }
  Tensor& operator=(const Scalar& value) && { return seen_elsewhere("=").fill_(value); }

  // ---- creation from memory ----
  /// A tensor with a copy of `values` (row-major). Without a shape it is 1-D. ShapeError if the number of values does
  /// not match the shape.
  template <class T> static Tensor from(std::span<const T> values, const Shape& shape) {
    return from_memory(values.data(), static_cast<int64_t>(values.size()), dtype_of<T>, shape);
  }
  template <class T> static Tensor from(std::span<const T> values) {
    return from(values, Shape{static_cast<int64_t>(values.size())});
  }
  template <class T>
    requires(!std::is_const_v<T>)
  static Tensor from(std::span<T> values) { return from(std::span<const T>(values)); }
  template <class T> static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  template <class T> static Tensor from(const std::vector<T>& values) { return from(std::span<const T>(values)); }
  /// A tensor on existing row-major memory, which is not copied. `release(context)` is called when the last tensor that
  /// uses the memory is destroyed, or if this function throws.
  template <class T>
  static Tensor wrap(T* data, const Shape& shape, void (*release)(void*) = nullptr, void* context = nullptr) {
    return wrap_memory(data, dtype_of<T>, shape, release, context);
  }

  // ---- properties ----
  bool defined() const noexcept { return bool(body_); }
  explicit operator bool() const = delete;  // no condition: write (x > 0).item<bool>(); by elements: ~x, x & y, x | y
  /// (Of a temporary, these three return copies, which may be kept.)
  const Shape& shape() const& { return body().view.shape(); }
  Shape shape() const&& { return body().view.shape(); }
  /// The strides in elements. ShapeError for a masked (padded) view.
  const Strides& strides() const&;
  Strides strides() const&& { return static_cast<const Tensor&>(*this).strides(); }
  /// The map from indices to memory positions: shape, strides, offset and mask.
  const View& layout() const& { return body().view; }
  View layout() const&& { return body().view; }
  /// The stride of an axis in elements; a negative axis counts from the end. ShapeError for a masked (padded) view.
  int64_t stride(int64_t axis) const;
  DType dtype() const { return body().dtype; }
  bool is_floating_point() const { return is_floating(dtype()); }
  Device device() const { return body().storage->device(); }
  int64_t rank() const { return body().view.rank(); }
  int64_t dim() const { return rank(); }
  /// The size of an axis; a negative axis counts from the end.
  int64_t size(int64_t axis) const;
  /// The sizes of all N axes: `const auto [n, c, h, w] = x.sizes<4>();`. ShapeError unless there are N.
  template <size_t N> std::array<int64_t, N> sizes() const {
    std::array<int64_t, N> out;
    copy_sizes(out.data(), N);
    return out;
  }
  int64_t numel() const { return body().view.numel(); }
  /// The bytes of one element, and of all elements of this shape. ShapeError if they (of an expanded tensor) overflow.
  int64_t element_size() const { return static_cast<int64_t>(size_of(dtype())); }
  int64_t nbytes() const { return checked_multiply(numel(), element_size()); }
  /// Whether the layout is row-major and has no mask.
  bool is_contiguous() const { return body().view.is_contiguous(); }
  bool shares_storage(const Tensor& other) const { return body().storage == other.body().storage; }
  /// Whether both handles refer to the same tensor.
  bool is_same(const Tensor& other) const noexcept { return body_ == other.body_; }

  // ---- values ----
  /// A pointer to the elements, in row-major order. DtypeError if T is not the tensor's dtype, ShapeError if the layout
  /// is not row-major (use contiguous()), DeviceError if the memory is not host memory.
  template <class T> T* data() const { return static_cast<T*>(checked_data(dtype_of<T>)); }
  /// The value of a tensor with exactly one element, converted to T. ShapeError for any other number of elements,
  /// DeviceError inside vmap if the samples' values differ.
  template <class T = double> T item() const {
    if constexpr (std::is_integral_v<T> && !requires { DTypeOf<T>::value; }) {
      return static_cast<T>(item<int64_t>());  // size_t and the like
    } else {
      T out{};
      copy_values(&out, dtype_of<T>, 1);
      return out;
    }
  }
  /// All values in row-major order, converted to T. MemoryError for more than memory holds (of an expanded tensor).
  template <class T> std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<uint8_t> bytes = room_for_values<uint8_t>();
      copy_values(bytes.data(), DType::boolean, -1);
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> out = room_for_values<T>();
      copy_values(out.data(), dtype_of<T>, -1);
      return out;
    }
  }

  // ---- history ----
  bool requires_grad() const { return current().history && body().history->requires_grad(); }
  bool is_leaf() const { return !current().history || body().history->is_leaf(); }
  /// The accumulated gradient of a leaf, or of a tensor after retain_grad(); undefined if there is none yet.
  /// GradientError for other tensors.
  Tensor grad() const;
  /// Makes backward keep the gradient of this result of an op, as it is after its hooks: it is added to grad(). Does
  /// nothing for a leaf. A write in place to this tensor ends it. GradientError if this tensor does not require a
  /// gradient.
  void retain_grad() const;
  /// Replaces grad() by a copy of `gradient`; an undefined one removes it. GradientError for a tensor that has none or
  /// does not require a gradient, or unless `gradient` has its shape and dtype.
  void set_grad(const Tensor& gradient) const;
  /// Makes the gradient undefined.
  void zero_grad() const;
  /// Makes this tensor a leaf that accumulates a gradient, or with `value` = false a leaf that does not. DtypeError
  /// unless floating.
  const Tensor& requires_grad_(bool value = true) const;
  Tensor& requires_grad_(bool value = true) { return std::as_const(*this).requires_grad_(value), *this; }
  /// Computes the gradients of all leaves this tensor depends on and adds them to grad(). `seed` is the gradient of
  /// this tensor; it may be omitted for a tensor of one element, where it is 1. One that throws, as where memory runs
  /// out, may have added a part of them: call zero_grad() before the next try.
  void backward() const;
  void backward(const BackwardOptions& options) const;
  void backward(const Tensor& seed) const;
  void backward(const Tensor& seed, const BackwardOptions& options) const;
  /// Calls `hook(gradient)` when backward has computed the gradient of this tensor. The hook returns void, or a Tensor
  /// that replaces the gradient. It may write to its argument, which changes only the gradient of this tensor. It must
  /// not capture the tensor it is registered on, as this creates a reference cycle that is never freed; capture
  /// detach() instead. GradientError if this tensor does not require a gradient.
  template <class F> HookHandle register_hook(F hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F, const Tensor&>>)
      return add_hook([hook = detail::not_empty("register_hook", std::move(hook))](const Tensor& g) mutable {
        return hook(g), Tensor();
      });
    else
      return add_hook(GradientHook(std::move(hook)));
  }
  /// For a leaf: calls `hook(gradient)` in each backward as soon as the gradient of this leaf is complete; backward
  /// through earlier ops may still follow. The argument is grad() itself, so writes to it persist. The hook must not
  /// capture the leaf.
  HookHandle register_post_accumulate_grad_hook(AccumulatedHook hook) const;
  /// A tensor that shares this tensor's memory and has no history.
  Tensor detach() const;
  /// The name of a leaf in error messages.
  Tensor& set_name(const std::string& name);
  std::string name() const;

  // ---- views (no copy) ----
  Tensor view(const Shape& shape) const;
  Tensor reshape(const Shape& shape) const;
  Tensor view_as(const Tensor& other) const { return view(other.shape()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.shape()); }
  Tensor squeeze(int64_t axis) const;
  Tensor squeeze(const IntList& axes) const;
  Tensor squeeze(std::initializer_list<int64_t> axes) const { return squeeze(IntList(axes)); }  // {1} is a list
  Tensor squeeze() const { return squeeze_all(); }
  Tensor squeeze_all() const;
  Tensor unsqueeze(int64_t axis) const;
  Tensor transpose(int64_t axis0, int64_t axis1) const;
  /// Swaps the last two axes; a tensor with fewer than two axes stays unchanged.
  Tensor t() const { return transpose(rank() < 2 ? -1 : -2, -1); }
  Tensor permute(const IntList& axes) const;
  Tensor movedim(int64_t source, int64_t destination) const;
  Tensor movedim(const IntList& sources, const IntList& destinations) const;
  Tensor moveaxis(int64_t source, int64_t destination) const { return movedim(source, destination); }
  Tensor slice(int64_t axis, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
               int64_t step = 1) const;
  Tensor select(int64_t axis, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  template <NoAxis T> Tensor operator[](T) const = delete;  // x.index({true}) adds an axis, x.index({mask}) selects
  Tensor shrink(const std::vector<Interval>& bounds) const;
  Tensor narrow(int64_t axis, int64_t start, int64_t length) const;
  Tensor unfold(int64_t axis, int64_t size, int64_t step) const;
  Tensor flip(const IntList& axes) const;
  template <std::integral Axis> Tensor flip(Axis axis) const { return flip(IntList{axis}); }
  Tensor pad(const std::vector<Padding>& padding) const;
  Tensor expand(const Shape& shape) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.shape()); }
  Tensor broadcast(const Shape& shape) const;
  Tensor broadcast_to(const Shape& shape) const { return expand(shape); }
  Tensor broadcast_like(const Tensor& other) const;
  Tensor broadcast_left(const Shape& batch_dims) const;
  Tensor diagonal(int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1) const;
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor ravel() const { return flatten(); }
  Tensor unflatten(int64_t axis, const Shape& sizes) const;
  Tensor as_strided(const Shape& shape, const Strides& strides, int64_t offset = 0) const;
  std::vector<Tensor> split(int64_t size, int64_t axis = 0) const;
  std::vector<Tensor> split(const IntList& sizes, int64_t axis = 0) const;
  std::vector<Tensor> split(std::initializer_list<int64_t> sizes, int64_t axis = 0) const {
    return split(IntList(sizes), axis);  // {5} is a list
  }
  std::vector<Tensor> tensor_split(int64_t sections, int64_t axis = 0) const;
  std::vector<Tensor> tensor_split(const IntList& positions, int64_t axis = 0) const;
  std::vector<Tensor> tensor_split(std::initializer_list<int64_t> positions, int64_t axis = 0) const {
    return tensor_split(IntList(positions), axis);
  }
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0) const;
  std::vector<Tensor> unbind(int64_t axis = 0) const;
  Tensor swapaxes(int64_t axis0, int64_t axis1) const { return transpose(axis0, axis1); }

  // ---- members that forward to functions: indexing, element-wise, reductions, matrices, writes in place ----
#include "tensor/members.inc"

  /// `Tensor([[1.0000, 2.0000],\n        [3.0000, 4.0000]], dtype=f32)`
  std::string to_string() const;

 private:
  friend struct internal::TensorAccess;
  using Body = internal::TensorBody;
  explicit Tensor(IntrusivePtr<Body> body) : body_(std::move(body)) {}
  const Body& body() const {
    if (!body_) [[unlikely]]
      throw_undefined();
    return *body_;
  }
  /// The body. If this is a view and its base was written to since, first updates the history of this tensor.
  const Body& current() const {
    const Body& self = body();
    if (self.base && self.described() != self.storage->version()) [[unlikely]]
      follow_base();
    return self;
  }
  void follow_base() const;
  [[noreturn]] static void throw_undefined();
  static Tensor from_memory(const void* values, int64_t count, DType dtype, const Shape& shape);
  static Tensor wrap_memory(void* data, DType dtype, const Shape& shape, void (*release)(void*), void* context);
  void* checked_data(DType dtype) const;
  /// Copies the values to `out` in row-major order, converted to `dtype`. `count` is the required number of elements,
  /// or -1 for any number.
  void copy_values(void* out, DType dtype, int64_t count) const;
  void copy_sizes(int64_t* out, int64_t count) const;
  template <class T> std::vector<T> room_for_values() const {
    const auto count = static_cast<size_t>(numel());
    try {
      return std::vector<T>(count);
    } catch (const std::exception&) {  // bad_alloc, or length_error where it leaves the address space
      throw_no_room();
    }
  }
  [[noreturn]] void throw_no_room() const;
  HookHandle add_hook(GradientHook hook) const;
  /// Checks that a write to this temporary (by the operator `sign`) is visible: Error if no other tensor shares its
  /// memory. Returns *this.
  Tensor& seen_elsewhere(const char* sign);
  /// copy_(values). If values has more axes than this tensor, leading axes of size 1 are dropped.
  Tensor& assign(const Tensor& values);

  IntrusivePtr<Body> body_;
};

namespace internal {

/// Access to the internals of a Tensor, for weft's own code.
struct TensorAccess {
  static TensorBody& body(const Tensor& x) { return const_cast<TensorBody&>(x.body()); }
  static const IntrusivePtr<TensorBody>& handle(const Tensor& x) noexcept { return x.body_; }
  static Tensor make(IntrusivePtr<TensorBody> body) { return Tensor(std::move(body)); }
};

inline TensorBody& body(const Tensor& x) { return TensorAccess::body(x); }
inline Storage& storage(const Tensor& x) { return *body(x).storage; }
inline const IntrusivePtr<Storage>& storage_ptr(const Tensor& x) { return body(x).storage; }
/// The start of the storage (not of the view).
inline void* raw(const Tensor& x) { return storage(x).data(); }
/// Where the elements of a dense tensor begin.
inline char* first_byte(const Tensor& x) {
  return static_cast<char*>(raw(x)) + x.layout().offset() * static_cast<int64_t>(size_of(x.dtype()));
}
/// The values of x as a row-major CPU tensor without history; on x's own memory if that is row-major host memory.
Tensor host_row_major(const Tensor& x);
/// Whether this is the only handle of the tensor.
inline bool is_sole_handle(const Tensor& x) { return TensorAccess::handle(x)->unique(); }
template <class V> Tensor make_tensor(IntrusivePtr<Storage> storage, V&& view, DType dtype) {
  return TensorAccess::make(
      IntrusivePtr<TensorBody>::adopt(new TensorBody(std::move(storage), std::forward<V>(view), dtype)));
}

}  // namespace internal

/// Options of backward().
struct BackwardOptions {
  bool retain_graph = false;  // keep what was saved, so that backward can run again
  /// Record the backward itself (implies retain_graph). The gradients of leaves and of retain_grad() then hold the
  /// graph, which holds them: none of it is freed before zero_grad() of each. grad() has no such cycle.
  bool create_graph = false;
  /// The leaves whose gradients are computed and added to; none: all. GradientError unless each is a leaf that requires
  /// a gradient. One that the graph does not reach keeps its gradient.
  std::vector<Tensor> inputs = {};
};

struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// `[2, 3] f32`, or `undefined`: the text by which errors describe a tensor.
std::string describe(const Tensor& tensor);

}  // namespace weft
