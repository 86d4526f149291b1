// Tensor: a small handle to a body {storage, view, dtype, history}. Copying a Tensor is O(1) and gives the same body;
// clone() copies the data. The members that read as a chain are one-line forwards to the free functions in
// tensor/functions.
#pragma once

#include <concepts>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tensor/body.h"
#include "tensor/core/axes.h"
#include "tensor/core/error.h"
#include "tensor/core/scalar.h"

namespace weft {

/// Takes a hook off again; dropping the handle does not. While it is kept, so is the graph behind the tensor.
class HookHandle {
 public:
  HookHandle(IntrusivePtr<Provenance> history, int number) : history_(std::move(history)), number_(number) {}
  void remove() { history_->remove_hook(number_); }

 private:
  IntrusivePtr<Provenance> history_;
  int number_;
};

class Generator;
/// Values and positions of an extremum along an axis.
struct ValuesAndIndices;
/// One of the indices of x.index({...}).
class TensorIndex;

namespace internal {
struct TensorAccess;
}

class Tensor {
 public:
  /// Undefined: no data. Using it in an op is an error; it stands for "absent" (no bias, no gradient).
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  /// A name gets another tensor.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// A temporary is written through, as by copy_ and fill_: `x[0] = y;`, `x[0] = 1.0;`. Error where no other tensor has
  /// its memory, as that of `x.index({mask})`: nothing would see what is written.
  Tensor& operator=(const Tensor& values) && { return seen_elsewhere("=").assign(values); }
  Tensor& operator=(const Scalar& value) && { return seen_elsewhere("=").fill_(value); }

  // ---- making one from memory ----
  /// Copies `values` (row-major). ShapeError where their number differs from the shape's; without a shape: 1-D.
  template <class T> static Tensor from(std::span<const T> values, const Shape& shape) {
    return from_memory(values.data(), static_cast<int64_t>(values.size()), dtype_of<T>, shape);
  }
  template <class T> static Tensor from(std::span<const T> values) {
    return from(values, Shape{static_cast<int64_t>(values.size())});
  }
  template <class T> static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  template <class T> static Tensor from(const std::vector<T>& values) { return from(std::span<const T>(values)); }
  /// Borrows row-major foreign memory of `shape`; `release(context)` runs when the last tensor on it is gone.
  template <class T>
  static Tensor wrap(T* data, const Shape& shape, void (*release)(void*) = nullptr, void* context = nullptr) {
    return wrap_memory(data, dtype_of<T>, shape, release, context);
  }

  // ---- what it is ----
  bool defined() const noexcept { return bool(body_); }
  explicit operator bool() const = delete;  // no condition: write (x > 0).item<bool>(); by elements: ~x, x & y, x | y
  const Shape& shape() const { return body().view.shape(); }
  /// The strides in elements. ShapeError for a masked (padded) view.
  const Strides& strides() const;
  /// How indices map to memory.
  const View& layout() const { return body().view; }
  /// The stride of an axis (negative from the end), in elements. ShapeError for a masked (padded) view.
  int64_t stride(int64_t axis) const;
  DType dtype() const { return body().dtype; }
  bool is_floating_point() const { return is_floating(dtype()); }
  Device device() const { return body().storage->device(); }
  int64_t rank() const { return body().view.rank(); }
  int64_t dim() const { return rank(); }
  /// The size of an axis (negative from the end).
  int64_t size(int64_t axis) const;
  int64_t numel() const { return body().view.numel(); }
  /// Row-major and unmasked.
  bool is_contiguous() const { return body().view.is_contiguous(); }
  bool shares_storage(const Tensor& other) const { return body().storage == other.body().storage; }
  /// The same body: the same tensor in every respect.
  bool is_same(const Tensor& other) const noexcept { return body_ == other.body_; }

  // ---- its values ----
  /// Row-major memory of dtype T. DtypeError for another T, ShapeError (naming contiguous()) for any other layout,
  /// DeviceError where the memory is not the host's.
  template <class T> T* data() const { return static_cast<T*>(checked_data(dtype_of<T>)); }
  /// The value of a tensor of one element, converted to T.
  template <class T = double> T item() const {
    T out{};
    copy_values(&out, dtype_of<T>, 1);
    return out;
  }
  /// All values in row-major order, converted to T.
  template <class T> std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<uint8_t> bytes(static_cast<size_t>(numel()));
      copy_values(bytes.data(), DType::boolean, -1);
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> out(static_cast<size_t>(numel()));
      copy_values(out.data(), dtype_of<T>, -1);
      return out;
    }
  }

  // ---- history ----
  bool requires_grad() const { return current().history && body().history->requires_grad(); }
  bool is_leaf() const { return !current().history || body().history->is_leaf(); }
  /// A leaf's accumulated gradient; undefined where none arrived. GradientError for a tensor with history.
  Tensor grad() const;
  /// Replaces it by a copy of `gradient`, which must have this leaf's shape and dtype.
  void set_grad(const Tensor& gradient);
  /// Makes the gradient undefined.
  void zero_grad();
  /// Makes this a leaf that collects a gradient, or freezes one. DtypeError unless floating.
  Tensor& requires_grad_(bool value = true);
  /// Adds d(this)/d(leaf) to every leaf's gradient. `seed` is the gradient of this tensor (1 for a scalar).
  void backward(const Tensor& seed, const BackwardOptions& options = {}) const;
  void backward(const BackwardOptions& options = {}) const;
  /// Calls `hook(gradient)` during backward; a returned Tensor replaces the gradient (hooks may return void). The hook
  /// may write to its argument: that changes the gradient of this tensor and of nothing else. A hook must not capture
  /// the tensor it is registered on (a cycle, which is never freed): capture detach(), a name or a number.
  template <class F> HookHandle register_hook(F hook) {
    if constexpr (std::is_void_v<std::invoke_result_t<F, const Tensor&>>)
      return add_hook([hook = std::move(hook)](const Tensor& g) mutable { return hook(g), Tensor(); });
    else
      return add_hook(GradientHook(std::move(hook)));
  }
  /// Of a leaf: calls `hook(gradient)` in each backward as soon as the last contribution has been added, while older
  /// ops have yet to run. The argument is grad() itself: what the hook writes to it stays. The same rule of captures.
  HookHandle register_post_accumulate_grad_hook(AccumulatedHook hook);
  /// The same data without history.
  Tensor detach() const;
  /// The leaf's name in messages.
  Tensor& set_name(const std::string& name);
  std::string name() const;

  // ---- views (no copy) ----
  Tensor view(const Shape& shape) const;
  Tensor reshape(const Shape& shape) const;
  Tensor view_as(const Tensor& other) const { return view(other.shape()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.shape()); }
  Tensor squeeze(int64_t axis) const;
  Tensor squeeze() const { return squeeze_all(); }
  Tensor squeeze_all() const;
  Tensor unsqueeze(int64_t axis) const;
  Tensor transpose(int64_t axis0, int64_t axis1) const;
  /// The last two axes swapped; what has fewer stays as it is.
  Tensor t() const { return transpose(rank() < 2 ? -1 : -2, -1); }
  Tensor permute(const IntList& axes) const;
  Tensor movedim(int64_t source, int64_t destination) const;
  Tensor moveaxis(int64_t source, int64_t destination) const { return movedim(source, destination); }
  Tensor slice(int64_t axis, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
               int64_t step = 1) const;
  Tensor select(int64_t axis, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor shrink(const std::vector<Interval>& bounds) const;
  Tensor narrow(int64_t axis, int64_t start, int64_t length) const;
  Tensor unfold(int64_t axis, int64_t size, int64_t step) const;
  Tensor flip(const IntList& axes) const;
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
  std::vector<Tensor> tensor_split(int64_t sections, int64_t axis = 0) const;
  std::vector<Tensor> tensor_split(const IntList& positions, int64_t axis = 0) const;
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0) const;
  std::vector<Tensor> unbind(int64_t axis = 0) const;
  Tensor swapaxes(int64_t axis0, int64_t axis1) const { return transpose(axis0, axis1); }

  // ---- what forwards to functions: parts by index, element-wise, reductions, matrices, writes in place ----
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
  /// The body; a view whose base was written since has the history that follows from it.
  const Body& current() const {
    const Body& self = body();
    if (self.base && self.version != self.storage->version()) [[unlikely]]
      follow_base();
    return self;
  }
  void follow_base() const;
  [[noreturn]] static void throw_undefined();
  static Tensor from_memory(const void* values, int64_t count, DType dtype, const Shape& shape);
  static Tensor wrap_memory(void* data, DType dtype, const Shape& shape, void (*release)(void*), void* context);
  void* checked_data(DType dtype) const;
  /// Row-major values as `dtype` into `out`; `count` is the number that is allowed, -1 for any.
  void copy_values(void* out, DType dtype, int64_t count) const;
  HookHandle add_hook(GradientHook hook);
  /// This temporary, on the left of `sign`. Error where nothing else holds its memory.
  Tensor& seen_elsewhere(const char* sign);
  /// copy_() of `values`, of which axes of size 1 in front do not count where they are more than this tensor's.
  Tensor& assign(const Tensor& values);

  IntrusivePtr<Body> body_;
};

namespace internal {

/// What weft's own layers see of a Tensor.
struct TensorAccess {
  static TensorBody& body(const Tensor& x) { return const_cast<TensorBody&>(x.body()); }
  static const IntrusivePtr<TensorBody>& handle(const Tensor& x) noexcept { return x.body_; }
  static Tensor make(IntrusivePtr<TensorBody> body) { return Tensor(std::move(body)); }
};

inline TensorBody& body(const Tensor& x) { return TensorAccess::body(x); }
inline Storage& storage(const Tensor& x) { return *body(x).storage; }
inline const IntrusivePtr<Storage>& storage_ptr(const Tensor& x) { return body(x).storage; }
/// Start of the storage, whatever the layout.
inline void* raw(const Tensor& x) { return storage(x).data(); }
/// Whether this handle is the only one to the tensor.
inline bool is_sole_handle(const Tensor& x) { return TensorAccess::handle(x)->unique(); }
template <class V> Tensor make_tensor(IntrusivePtr<Storage> storage, V&& view, DType dtype) {
  return TensorAccess::make(
      IntrusivePtr<TensorBody>::adopt(new TensorBody(std::move(storage), std::forward<V>(view), dtype)));
}

}  // namespace internal

struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// `[2, 3] f32`, or `undefined`: how errors name a tensor.
std::string describe(const Tensor& tensor);

}  // namespace weft
