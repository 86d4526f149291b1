// Tensor: a small handle to a body {storage, view, dtype, history}. Copying a Tensor is O(1) and gives the same body;
// clone() copies the data. The members that read as a chain are one-line forwards to the free functions in tensor/ops.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
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

/// Takes a hook off again; dropping the handle does not.
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
  /// A temporary is written through, as by copy_ and fill_: `x[0] = y;`, `x[0] = 1.0;`.
  Tensor& operator=(const Tensor& values) && { return copy_(values); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }

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
  explicit operator bool() const = delete;  // no condition: write item<bool>(), as in `(x > 0).item<bool>()`
  const Shape& shape() const { return body().view.shape(); }
  /// The strides in elements. ShapeError for a masked (padded) view.
  const Strides& strides() const;
  /// How indices map to memory.
  const View& layout() const { return body().view; }
  DType dtype() const { return body().dtype; }
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
  template <class T> T item() const {
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
  Tensor squeeze_all() const;
  Tensor unsqueeze(int64_t axis) const;
  Tensor transpose(int64_t axis0, int64_t axis1) const;
  /// The last two axes swapped.
  Tensor t() const { return transpose(-2, -1); }
  Tensor permute(const IntList& axes) const;
  Tensor movedim(int64_t source, int64_t destination) const;
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
  Tensor broadcast(const Shape& shape) const;
  Tensor broadcast_like(const Tensor& other) const;
  Tensor broadcast_left(const Shape& batch_dims) const;
  Tensor diagonal(int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1) const;
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor unflatten(int64_t axis, const Shape& sizes) const;
  Tensor as_strided(const Shape& shape, const Strides& strides, int64_t offset = 0) const;
  std::vector<Tensor> split(int64_t size, int64_t axis = 0) const;
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0) const;
  std::vector<Tensor> unbind(int64_t axis = 0) const;
  Tensor swapaxes(int64_t axis0, int64_t axis1) const { return transpose(axis0, axis1); }

  // ---- parts by index (tensor/functions/advanced_index.h, index.h, index_put.h, masked.h) ----
  /// A view where integers, slices, None and Ellipsis alone are given: `x.index({Ellipsis, Slice(0, None, 2)})`.
  Tensor index(const std::vector<TensorIndex>& indices) const;
  Tensor& index_put_(const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate = false);
  Tensor& index_put_(const std::vector<TensorIndex>& indices, const Scalar& value, bool accumulate = false);
  Tensor index_select(int64_t axis, const Tensor& index) const;
  Tensor& index_copy_(int64_t axis, const Tensor& index, const Tensor& src);
  Tensor& index_fill_(int64_t axis, const Tensor& index, const Scalar& value);
  Tensor& index_add_(int64_t axis, const Tensor& index, const Tensor& src, const Scalar& alpha = 1);
  Tensor take(const Tensor& index) const;
  Tensor& put_(const Tensor& index, const Tensor& src, bool accumulate = false);
  Tensor gather(int64_t axis, const Tensor& index) const;
  Tensor scatter(int64_t axis, const Tensor& index, const Tensor& src) const;
  Tensor scatter(int64_t axis, const Tensor& index, const Scalar& value) const;
  Tensor& scatter_(int64_t axis, const Tensor& index, const Tensor& src);
  Tensor& scatter_(int64_t axis, const Tensor& index, const Scalar& value);
  Tensor scatter_add(int64_t axis, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_add_(int64_t axis, const Tensor& index, const Tensor& src);
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor& masked_fill_(const Tensor& mask, const Scalar& value);
  Tensor& masked_fill_(const Tensor& mask, const Tensor& value);
  Tensor masked_select(const Tensor& mask) const;
  Tensor& masked_scatter_(const Tensor& mask, const Tensor& src);
  Tensor nonzero() const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;
  Tensor roll(const IntList& shifts, const IntList& axes = {}) const;
  Tensor repeat(const IntList& counts) const;
  Tensor tile(const IntList& counts) const;
  Tensor repeat_interleave(int64_t count, std::optional<int64_t> axis = std::nullopt) const;

  // ---- copies ----
  Tensor clone() const;
  /// This tensor where it is row-major, else a copy that is.
  Tensor contiguous() const;
  Tensor to(DType dtype) const;
  /// This tensor where it is on `device`, else a copy there, with history. DeviceError where there is no such device.
  Tensor to(Device device) const;

  // ---- element-wise ----
  Tensor operator-() const&;
  Tensor operator-() &&;
  // Each has a form for temporaries, which may use their memory again.
// clang-format off
#define WEFT_MEMBERS(X) \
  X(neg) X(abs) X(sign) X(square) X(sqrt) X(rsqrt) X(reciprocal) X(exp) X(log) X(log1p) X(sin) X(cos) X(tanh) \
  X(sigmoid) X(relu) X(erf) X(floor) X(ceil) X(round) X(trunc) X(expm1) X(exp2) X(log2) X(log10) X(tan) X(asin) \
  X(acos) X(atan) X(sinh) X(cosh)
// clang-format on
#define WEFT_MEMBER(function) \
  Tensor function() const&;   \
  Tensor function()&&;
  WEFT_MEMBERS(WEFT_MEMBER)
#undef WEFT_MEMBER
  Tensor clip(std::optional<Scalar> min, std::optional<Scalar> max) const;
  Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max) const { return clip(min, max); }
#define WEFT_COMPARISONS(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)
#define WEFT_COMPARISON(function)             \
  Tensor function(const Tensor& other) const; \
  Tensor function(const Scalar& other) const;
  WEFT_COMPARISONS(WEFT_COMPARISON)
#undef WEFT_COMPARISON
  Tensor pow(const Scalar& exponent) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor isnan() const;
  Tensor isfinite() const;
  Tensor logical_not() const;
  /// This where `condition` holds, else `other`.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;

  // ---- reductions, scans, order, matrices ----
#define WEFT_REDUCTIONS(X) X(sum) X(mean) X(prod) X(max) X(min) X(amax) X(amin) X(all) X(any) X(logsumexp)
#define WEFT_REDUCTION(function) Tensor function(const Axes& axes = {}, KeepDim keep = {}) const;
  WEFT_REDUCTIONS(WEFT_REDUCTION)
#undef WEFT_REDUCTION
  Tensor sum(const Axes& axes, KeepDim keep, DType dtype) const;
  Tensor mean(const Axes& axes, KeepDim keep, DType dtype) const;
  Tensor prod(const Axes& axes, KeepDim keep, DType dtype) const;
  ValuesAndIndices max_with_indices(int64_t axis, KeepDim keep = {}) const;
  ValuesAndIndices min_with_indices(int64_t axis, KeepDim keep = {}) const;
  template <std::same_as<bool> T> Tensor argmax(T, KeepDim = {}) const = delete;  // a bool is no axis
  template <std::same_as<bool> T> Tensor argmin(T, KeepDim = {}) const = delete;
  Tensor argmax(std::optional<int64_t> axis = std::nullopt, KeepDim keep = {}) const;
  Tensor argmin(std::optional<int64_t> axis = std::nullopt, KeepDim keep = {}) const;
  Tensor var(const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {}) const;
  Tensor std(const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {}) const;
  Tensor norm(double p = 2, const Axes& axes = {}, KeepDim keep = {}) const;
  Tensor softmax(int64_t axis) const;
  Tensor log_softmax(int64_t axis) const;
  Tensor cumsum(int64_t axis) const;
  Tensor cumprod(int64_t axis) const;
  ValuesAndIndices sort(int64_t axis = -1, bool descending = false) const;
  Tensor argsort(int64_t axis = -1, bool descending = false) const;
  ValuesAndIndices topk(int64_t k, int64_t axis = -1, bool largest = true) const;
  Tensor median() const;
  ValuesAndIndices median(int64_t axis, KeepDim keep = {}) const;
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor det() const;

  // ---- writes in place (they raise the storage's version) ----
  // x = f(x), in x's dtype: DtypeError where f leaves the integers.
// clang-format off
#define WEFT_MEMBERS_IN_PLACE(X) \
  X(Neg, neg) X(Abs, abs) X(Square, square) X(Sqrt, sqrt) X(Rsqrt, rsqrt) X(Reciprocal, reciprocal) X(Exp, exp) \
  X(Log, log) X(Tanh, tanh) X(Sigmoid, sigmoid) X(Relu, relu) X(Floor, floor) X(Ceil, ceil) X(Round, round) \
  X(Trunc, trunc)
// clang-format on
#define WEFT_MEMBER_IN_PLACE(Op, function) Tensor& function##_();
  WEFT_MEMBERS_IN_PLACE(WEFT_MEMBER_IN_PLACE)
#undef WEFT_MEMBER_IN_PLACE
  Tensor& clip_(std::optional<Scalar> min, std::optional<Scalar> max);
  Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max) { return clip_(min, max); }
  /// Random values in place of these, from the process's generator or `generator`: uniform in [low, high), normal, 1
  /// with probability p and else 0 (any dtype), exponential with density rate e^(-rate x).
  Tensor& uniform_(double low = 0, double high = 1);
  Tensor& uniform_(double low, double high, Generator& generator);
  Tensor& normal_(double mean = 0, double std = 1);
  Tensor& normal_(double mean, double std, Generator& generator);
  Tensor& bernoulli_(double p = 0.5);
  Tensor& bernoulli_(double p, Generator& generator);
  /// With the probability that each element of `p` (floating) is, which broadcasts.
  Tensor& bernoulli_(const Tensor& p);
  Tensor& bernoulli_(const Tensor& p, Generator& generator);
  Tensor& exponential_(double rate = 1);
  Tensor& exponential_(double rate, Generator& generator);
  /// this + weight (end - this): moving averages.
  Tensor& lerp_(const Tensor& end, double weight);
  Tensor& fill_(const Scalar& value);
  Tensor& zero_() { return fill_(0); }
  /// The values of `source`, broadcast and cast to this tensor's shape and dtype.
  Tensor& copy_(const Tensor& source);
#define WEFT_ASSIGNMENTS(X) X(+=, add_) X(-=, sub_) X(*=, mul_) X(/=, div_)
#define WEFT_ASSIGNMENT(sign, function)                                  \
  Tensor& function(const Tensor& other);                                 \
  Tensor& function(const Scalar& other);                                 \
  Tensor& operator sign(const Tensor& other) { return function(other); } \
  Tensor& operator sign(const Scalar& other) { return function(other); }
  WEFT_ASSIGNMENTS(WEFT_ASSIGNMENT)
#undef WEFT_ASSIGNMENT
  // The remainder takes numbers, the others integers, the first three bool too.
#define WEFT_COMPOUND(X) \
  X(%=, Remainder)       \
  X(&=, BitwiseAnd) X(|=, BitwiseOr) X(^=, BitwiseXor) X(<<=, BitwiseLeftShift) X(>>=, BitwiseRightShift)
#define WEFT_COMPOUND_MEMBER(sign, Op)        \
  Tensor& operator sign(const Tensor& other); \
  Tensor& operator sign(const Scalar& other);
  WEFT_COMPOUND(WEFT_COMPOUND_MEMBER)
#undef WEFT_COMPOUND_MEMBER

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
