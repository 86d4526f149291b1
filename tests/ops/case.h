// The case table: one row per way to call an op, with inputs to draw, a naive reference and what the op promises. Every
// row is run through all checks (checks.h). A family's rows are in <family>_cases.cc; families.h lists the families.
//
//   cases.add("softmax last axis", {{normal({3, 4})}, {normal({0, 3})}},
//             CALL(softmax(x[0], -1)), rowwise(-1, reference::softmax));
//   cases.error<IndexError>("softmax axis", [] { softmax(ones({2}), 1); },
//                           "softmax([2] f32): axis 1 is out of range for 1 axis");
#pragma once

#include <concepts>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/tensor.h"
#include "tests/reference/array.h"

namespace weft::testing {

// The naive side of a case.
using reference::Array;
using reference::Arrays;
using reference::broadcast_at;
using reference::broadcast_of;
using reference::build;
using reference::constant;
using reference::Index;
using reference::indices_of;
using reference::picked;
using reference::pointwise;
using reference::reduction;
using reference::Reference;
using reference::Row;
using reference::rowwise;
using reference::same;

/// How the values of an input are drawn.
struct InputSpec {
  enum class Kind { normal, uniform, distinct, integers, special, given, absent };
  Kind kind = Kind::normal;
  Shape shape;
  double low = 0, high = 0;
  std::vector<double> list;    // kinks to stay away from, or the values given
  std::optional<DType> dtype;  // of an input that has one of its own: indices, masks
  bool differentiable = true;
};

/// Normal values, none nearer than 0.1 to one of `kinks`.
InputSpec normal(const Shape& shape, std::vector<double> kinks = {});
InputSpec uniform(const Shape& shape, double low, double high);
/// Values in [0.5, 2.5).
InputSpec positive(const Shape& shape);
/// No two are nearer than 0.5: extremes stay where they are under small steps.
InputSpec distinct(const Shape& shape);
/// Whole numbers in [low, high], of the dtype that is checked. No gradient is checked (ties, exact sums).
InputSpec integers(const Shape& shape, int64_t low, int64_t high);
/// Zeros of both signs, infinities, NaN, huge and tiny values. No gradient is checked.
InputSpec special(const Shape& shape);
/// These values.
InputSpec given(const Shape& shape, std::vector<double> values);
/// Indices in [0, limit), i64 whatever dtype is checked. A template, so that braces are always values: index({1}, {3}).
InputSpec index_below(const Shape& shape, int64_t limit);
template <std::integral T> InputSpec index(const Shape& shape, T limit) { return index_below(shape, limit); }
/// Indices that are given, of dtype `dtype`.
InputSpec index(const Shape& shape, std::vector<double> values, DType dtype = i64);
/// bool, whatever dtype is checked.
InputSpec mask(const Shape& shape);
/// An optional input that is not given.
InputSpec absent();

using Sample = std::vector<InputSpec>;
using Inputs = std::vector<Tensor>;
/// What a call gives; one tensor converts.
struct Outputs : std::vector<Tensor> {
  using std::vector<Tensor>::vector;
  Outputs(const Tensor& one) : std::vector<Tensor>{one} {}
  Outputs(const std::vector<Tensor>& list) : std::vector<Tensor>(list) {}
};
using Call = std::function<Outputs(const Inputs&)>;
/// The call of one expression of the inputs x: `CALL(softmax(x[0], -1))`.
#define CALL(...) [=]([[maybe_unused]] const Inputs& x) -> Outputs { return __VA_ARGS__; }

inline constexpr DTypes kAll = kAllDTypes;

/// The dtype of a result, from the dtype checked.
enum class Result { same, floating, boolean, i64, summed, f32, f64 };
/// floating: f32 for integers and bool; summed: i64 for them.
DType result_dtype(Result rule, DType in);

struct OpCase {
  std::string name;
  std::vector<Sample> samples;
  Call call;
  Reference reference;        // may be empty: values are not compared
  DTypes dtypes = kFloating;  // checked
  DTypes refused = kAll - kFloating;
  std::vector<Result> results = {Result::same};  // of each output, the last for all further ones
  bool differentiable = true;
  bool is_view = false;
  bool has_layouts = true;       // the result does not depend on how inputs lie in memory
  double tolerance = 1;          // factor on the bounds of f32 and f64, whose sums are as long as the case makes them
  int hidden_roundings = 0;      // to 16 bits, inside of kernels
  bool has_large_parts = false;  // what is rounded to 16 bits on the way is larger than the result
  bool has_bf16_gradients = true;
  uint32_t refused_by_vmap = 0;  // a bit for each input that may not differ between samples
  bool writes_first = false;

  /// Takes these dtypes and no others.
  OpCase& accepts(DTypes set) { return dtypes = set, refused = kAll - set, *this; }
  /// The case is checked in these dtypes; nothing is said of others.
  OpCase& compares(DTypes set) { return dtypes = set, refused = {}, *this; }
  OpCase& gives(std::vector<Result> rules) { return results = std::move(rules), *this; }
  /// Takes every dtype; integers and bool become f32.
  OpCase& widens() { return accepts(kAll).gives({Result::floating}); }
  OpCase& no_gradient() { return differentiable = false, *this; }
  /// The result shares the input's memory, and the rule equals the generic adjoint.
  OpCase& view() { return is_view = true, *this; }
  /// vmap refuses the call where one of these inputs (a bit each) differs between samples: a shape depends on its
  /// values, or the host reads them. All other calls must run.
  OpCase& no_vmap(uint32_t inputs = ~0u) { return refused_by_vmap = inputs, *this; }
  /// The call writes to input 0 (or a copy of it), which vmap refuses where the others differ between samples and it
  /// does not.
  OpCase& in_place() { return writes_first = true, *this; }
  OpCase& no_layouts() { return has_layouts = false, *this; }
  /// Sums in f32 and f64 lose so many times what one pass over a few elements does.
  OpCase& loose(double factor) { return tolerance = factor, *this; }
  /// Bounds in bf16 and f16 follow from the roundings to the format, which are counted: one for each op that writes 16
  /// bits. A kernel that rounds what it keeps inside rounds `count` times more.
  OpCase& rounds_inside(int count) { return hidden_roundings = count, *this; }
  /// Results are differences of larger numbers: roundings are relative to the largest number written on the way.
  OpCase& large_parts() { return has_large_parts = true, *this; }
  /// So many ops on the way that a bound in bf16 says nothing of the gradients.
  OpCase& no_bf16_gradients() { return has_bf16_gradients = false, *this; }
};

/// A call that must fail, and the whole text of the error.
struct ErrorCase {
  std::string name;
  std::function<void()> call;
  bool (*is_kind)(const Error*);
  std::string text;
};

/// The rows of one family, or of all.
class Cases {
 public:
  OpCase& add(std::string name, std::vector<Sample> samples, Call call, Reference reference) {
    return ops_.emplace_back(OpCase{std::move(name), std::move(samples), std::move(call), std::move(reference)});
  }
  template <class Kind> void error(std::string name, std::function<void()> call, std::string text) {
    errors_.push_back({std::move(name), std::move(call),
                       [](const Error* e) { return dynamic_cast<const Kind*>(e) != nullptr; }, std::move(text)});
  }
  const std::deque<OpCase>& ops() const { return ops_; }
  const std::deque<ErrorCase>& errors() const { return errors_; }

 private:
  std::deque<OpCase> ops_;
  std::deque<ErrorCase> errors_;
};

/// The rows of all families; made once.
const Cases& all_cases();

}  // namespace weft::testing
