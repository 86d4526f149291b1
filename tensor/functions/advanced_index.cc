#include "tensor/functions/advanced_index.h"

#include <algorithm>

#include "tensor/adjoints/index.h"
#include "tensor/adjoints/index_put.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/nonzero.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index_put.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/view.h"

namespace weft {
namespace {

/// A tensor among the indices, and the first axis of the view that it indexes.
struct Gatherer {
  int64_t axis;
  Tensor tensor;
  bool is_mask() const { return tensor.dtype() == boolean; }
  int64_t axes() const { return is_mask() ? tensor.rank() : 1; }
};

/// x after the indices that strides can express, as a view, and the remaining ones.
struct Parsed {
  Tensor view;
  std::vector<Gatherer> tensors;
};

bool is_one_mask(const Parsed& parsed) { return parsed.tensors.size() == 1 && parsed.tensors[0].is_mask(); }

/// The number of axes of x that an index uses up.
int64_t axes_taken(const TensorIndex& index) {
  switch (index.kind()) {
    case TensorIndex::Kind::integer:
    case TensorIndex::Kind::slice: return 1;
    case TensorIndex::Kind::tensor: return index.tensor().dtype() == boolean ? index.tensor().rank() : 1;
    default: return 0;
  }
}

/// The number of axes that no index uses up: those of the ellipsis, or those at the end.
int64_t axes_left(const Tensor& x, const std::vector<TensorIndex>& indices) {
  int64_t taken = 0, ellipses = 0;
  for (const TensorIndex& index : indices) {
    taken += axes_taken(index);
    ellipses += index.kind() == TensorIndex::Kind::ellipsis;
  }
  if (ellipses > 1) throw IndexError("there can be only one Ellipsis");
  if (taken > x.rank()) throw IndexError(text(taken, " indices for a tensor of ", x.rank(), " axes"));
  return x.rank() - taken;
}

/// What the caller does with the indexed part of x: if it only reads, the part may be a copy.
enum class Access { read, write };

class Parser {
 public:
  Parser(const Tensor& x, const std::vector<TensorIndex>& indices, Access access)
      : left_(axes_left(x, indices)), access_(access) {
    out_.view = x;
    for (const TensorIndex& index : indices) take(index);
  }
  Parsed result() && { return std::move(out_); }

 private:
  void take(const TensorIndex& index) {
    Tensor& view = out_.view;
    switch (index.kind()) {
      case TensorIndex::Kind::new_axis: view = unsqueeze(view, axis_++); return;
      case TensorIndex::Kind::ellipsis: axis_ += left_; return;
      case TensorIndex::Kind::integer: view = select(view, axis_, index.integer()); return;
      case TensorIndex::Kind::slice: {
        const Slice& s = index.slice();
        if (s.start || s.end || s.step != 1) view = weft::slice(view, axis_, s.start, s.end, s.step);
        ++axis_;
        return;
      }
      case TensorIndex::Kind::truth_value: return take_bool(index.integer() != 0);
      case TensorIndex::Kind::tensor: return take_tensor(index.tensor());
    }
  }
  /// An axis of size 1, of which all or nothing is taken.
  void take_bool(bool value) {
    out_.view = unsqueeze(out_.view, axis_);
    out_.tensors.push_back({axis_++, zeros({value ? 1 : 0}, i64, out_.view.device())});
  }
  void take_tensor(const Tensor& index) {
    if (index.dtype() != boolean) {
      op::check_index_dtype(index.dtype());
      const bool is_sample = index.rank() == 0 && index.device().kind == DeviceKind::vmap;
      if (is_sample && access_ == Access::read) {
        const Tensor row =
            dispatch::apply_list(op::FlatIndex{{out_.view.size(axis_)}}, std::vector{reshape(index, {1})});
        out_.view = squeeze(index_select(out_.view, axis_, row), axis_);
        return;
      }
      if (is_sample) return out_.tensors.push_back({axis_++, index});
      if (index.rank() == 0) {
        out_.view = select(out_.view, axis_, index.item<int64_t>());
        return;
      }
    } else if (index.rank() == 0) {
      return take_bool(index.item<bool>());
    }
    for (int64_t i = 0; index.dtype() == boolean && i < index.rank(); ++i)
      if (index.size(i) != out_.view.size(axis_ + i))
        throw ShapeError(text("the mask of shape ", index.shape(), " does not fit axis ", axis_ + i, " of size ",
                              out_.view.size(axis_ + i)));
    out_.tensors.push_back({axis_, index});
    axis_ += out_.tensors.back().axes();
  }

  Parsed out_;
  int64_t left_;
  Access access_;
  int64_t axis_ = 0;
};

/// What is gathered: `axes` axes of `view`, from `axis` on, are indexed as one by the 1-d `flat`. In their place the
/// result has the axes of `shape`.
struct Rows {
  Tensor view;
  int64_t axis;
  int64_t axes;
  Tensor flat;
  Shape shape;
  bool unique = false;
};

/// Samples of vmap without axes act as integers when they write. DeviceError if there are index tensors with axes too:
/// an integer would then move the axes of the result.
void check_samples(const std::vector<Tensor>& indices) {
  const auto has_axes = [](const Tensor& index) { return index.rank() > 0; };
  if (std::none_of(indices.begin(), indices.end(), has_axes)) return;
  for (const Tensor& index : indices)
    if (!has_axes(index)) (void)index.item<int64_t>();
}

/// Makes the indexed axes adjacent: they stay in place if they are, and otherwise move to the front.
void bring_together(Rows& rows, const IntList& axes) {
  rows.axes = axes.rank();
  rows.axis = axes.front();
  bool adjacent = true;
  for (size_t i = 1; i < axes.size(); ++i) adjacent = adjacent && axes[i] == axes[i - 1] + 1;
  if (adjacent) return;
  IntList order = axes;
  for (const int64_t axis : internal::other_axes(rows.view.rank(), axes)) order.push_back(axis);
  rows.view = permute(rows.view, order);
  rows.axis = 0;
}

Rows rows_of(const Parsed& parsed) {
  Rows rows{parsed.view, 0, 1, {}, {}};
  if (is_one_mask(parsed)) {
    const Gatherer& mask = parsed.tensors[0];
    rows.axis = mask.axis;
    rows.axes = mask.axes();
    rows.flat = flatnonzero(mask.tensor);
    rows.shape = rows.flat.shape();
    rows.unique = true;
    return rows;
  }
  IntList axes, sizes;
  std::vector<Tensor> indices;
  for (const Gatherer& gatherer : parsed.tensors) {
    const Tensor positions = gatherer.is_mask() ? nonzero(gatherer.tensor) : Tensor();
    for (int64_t i = 0; i < gatherer.axes(); ++i) {
      axes.push_back(gatherer.axis + i);
      sizes.push_back(parsed.view.size(gatherer.axis + i));
      indices.push_back(gatherer.is_mask() ? select(positions, 1, i) : gatherer.tensor);
    }
  }
  check_samples(indices);
  for (const Tensor& index : indices) rows.shape = broadcast_shapes(rows.shape, index.shape());
  for (Tensor& index : indices) index = broadcast(index, rows.shape);
  bring_together(rows, axes);
  rows.flat = reshape(dispatch::apply_list(op::FlatIndex{sizes}, indices), {-1});
  return rows;
}

/// The shape of the view, with the axes of `rows.shape` in place of the indexed ones.
Shape result_shape(const Rows& rows) {
  Shape out;
  for (int64_t i = 0; i < rows.view.rank(); ++i) {
    if (i == rows.axis)
      for (const int64_t size : rows.shape) out.push_back(size);
    if (i < rows.axis || i >= rows.axis + rows.axes) out.push_back(rows.view.size(i));
  }
  return out;
}

/// A mask over some axes of the view, with axes appended so that it broadcasts to the view.
Tensor over_view(const Gatherer& mask, const Tensor& view) {
  Tensor out = mask.tensor;
  while (out.rank() < view.rank() - mask.axis) out = unsqueeze(out, -1);
  return out;
}

Tensor row_values(const Rows& rows, const Tensor& value) {
  const Tensor fitting = broadcast(value, result_shape(rows));
  return rows.shape.rank() == 1
             ? fitting
             : reshape(fitting, op::with_merged(rows.view.shape(), rows.axis, rows.axes, rows.flat.numel()));
}

void put_rows(const char* name, Rows& rows, const Tensor& value, bool accumulate) {
  const Tensor src = dispatch::apart_from(rows.view, row_values(rows, value));
  rows.flat = dispatch::apart_from(rows.view, rows.flat);
  if (accumulate)
    dispatch::apply_in_place(op::IndexAccumulate{rows.axis, rows.axes}, name, rows.view, rows.flat, src);
  else
    dispatch::apply_in_place(op::IndexCopy{rows.axis, rows.axes, rows.unique}, name, rows.view, rows.flat, src);
}

void check_integers(const Tensor& x, const Scalar& value) {
  if (value.is_floating() && !is_floating(x.dtype()))
    throw DtypeError(text("a floating value cannot be written to ", x.dtype(), "; cast it first"));
}

/// `value` on x's device and in x's dtype, without leading axes of size 1 that the rows do not have. DtypeError for a
/// floating value that is added to integers.
Tensor row_source(const Tensor& value, const Tensor& x, const Rows& rows, bool accumulate) {
  const Tensor here = detail::without_leading_ones(dispatch::on_device_of(x, value), result_shape(rows).rank());
  return accumulate ? adjoint::source_of(here, x.dtype()) : cast(here, x.dtype());
}

template <class Value>
void write(const char* name, const Tensor& x, const std::vector<TensorIndex>& indices, const Value& value,
           bool accumulate) {
  Parsed parsed = Parser(x, indices, Access::write).result();
  Tensor& view = parsed.view;
  constexpr bool kScalar = std::same_as<Value, Scalar>;
  if constexpr (kScalar) {
    check_fits(value, x.dtype());
    if (accumulate) check_integers(x, value);
  }
  if (parsed.tensors.empty()) {
    if constexpr (kScalar) {
      accumulate ? view.add_(value) : view.fill_(value);
    } else {
      const Tensor fitting = detail::without_leading_ones(value, view.rank());
      accumulate ? view.add_(fitting) : view.copy_(fitting);
    }
    return;
  }
  if (kScalar && !accumulate && is_one_mask(parsed)) {
    if constexpr (kScalar) view.masked_fill_(over_view(parsed.tensors[0], view), value);
    return;
  }
  Rows rows = rows_of(parsed);
  if constexpr (kScalar)
    put_rows(name, rows, full({}, value, x.dtype(), x.device()), accumulate);
  else
    put_rows(name, rows, row_source(value, x, rows, accumulate), accumulate);
}

Tensor copy_to_write(const Tensor& x, const std::vector<TensorIndex>& indices, const Tensor& value) {
  std::vector<const Tensor*> others = {&value};
  for (const TensorIndex& index : indices)
    if (index.kind() == TensorIndex::Kind::tensor) others.push_back(&index.tensor());
  return dispatch::copy_to_write(x, others);
}

}  // namespace

Tensor detail::without_leading_ones(const Tensor& x, int64_t rank) {
  Tensor out = x;
  while (out.rank() > rank && out.size(0) == 1) out = select(out, 0, 0);
  return out;
}

Tensor& Tensor::assign(const Tensor& values) { return copy_(detail::without_leading_ones(values, rank())); }

Tensor index(const Tensor& x, const std::vector<TensorIndex>& indices) {
  ErrorFrame frame("index", x);
  const Parsed parsed = Parser(x, indices, Access::read).result();
  // If everything is selected, the result is a view too, not x: requires_grad_() of it must not change x.
  if (parsed.tensors.empty()) return parsed.view.is_same(x) ? broadcast(x, x.shape()) : parsed.view;
  if (is_one_mask(parsed) && parsed.tensors[0].axes() == parsed.view.rank())
    return masked_select(parsed.view, parsed.tensors[0].tensor);
  const Rows rows = rows_of(parsed);
  const Tensor out = dispatch::apply(op::IndexSelect{rows.axis, rows.axes}, rows.view, rows.flat);
  return rows.shape.rank() == 1 ? out : reshape(out, result_shape(rows));
}

Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate) {
  ErrorFrame frame("index_put", x, value);
  const Tensor out = copy_to_write(x, indices, value);
  write("index_put", out, indices, value, accumulate);
  return out;
}

Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Scalar& value, bool accumulate) {
  ErrorFrame frame("index_put", x);
  const Tensor out = copy_to_write(x, indices, {});
  write("index_put", out, indices, value, accumulate);
  return out;
}

Tensor Tensor::index(const std::vector<TensorIndex>& indices) const { return weft::index(*this, indices); }

Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate) {
  ErrorFrame frame("index_put_", *this, value);
  write("index_put_", *this, indices, value, accumulate);
  return *this;
}

Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, const Scalar& value, bool accumulate) {
  ErrorFrame frame("index_put_", *this);
  write("index_put_", *this, indices, value, accumulate);
  return *this;
}

}  // namespace weft
