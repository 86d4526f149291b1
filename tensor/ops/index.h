// Descriptors of indexing with tensors of integers. Kernels check every index before they write.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// The policies: input 0 (of embedding, input 1) has the values, the other one the indices.
inline constexpr Policy kIndexes = {.numeric = 1};
inline constexpr Policy kAddsByIndex = {.accepts = kNumbers, .numeric = 1};

/// out[.., i, ..] = x[.., index[.., i, ..], ..] along `axis`; index's sizes off the axis are at most x's.
struct Gather {
  int64_t axis;
  static constexpr std::string_view name = "gather";
  static constexpr std::string_view cost = "one pass over what is read";
  static constexpr Policy policy = kIndexes;
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Gather&) const = default;
  Spec infer(const Operand& x, const Operand& index) const;
  void cpu(const Operand& x, const Operand& index, const Operand& out) const;
};

/// zeros of `shape`, and out[.., index[.., i, ..], ..] += src[.., i, ..], src of index's shape: the adjoint of gather.
/// Adds in the order of i, 16-bit floats in float, whatever the number of threads.
struct ScatterAdd {
  int64_t axis;
  Shape shape;
  static constexpr std::string_view name = "scatter_add";
  static constexpr Policy policy = kAddsByIndex;
  void attributes(auto visit) const { visit("axis", axis), visit("shape", shape); }
  bool operator==(const ScatterAdd&) const = default;
  Spec infer(const Operand& src, const Operand& index) const;
  void cpu(const Operand& src, const Operand& index, const Operand& out) const;
};

/// Slice i of out along `axis` is slice index[i] of x; index is 1-d. Where `axes` is more than 1, so many axes of x
/// from
/// `axis` on count as one, in row-major order.
struct IndexSelect {
  int64_t axis;
  int64_t axes = 1;
  static constexpr std::string_view name = "index_select";
  static constexpr std::string_view cost = "one pass over what is read";
  static constexpr Policy policy = kIndexes;
  void attributes(auto visit) const { visit("axis", axis), visit("axes", axes); }
  bool operator==(const IndexSelect&) const = default;
  Spec infer(const Operand& x, const Operand& index) const;
  void cpu(const Operand& x, const Operand& index, const Operand& out) const;
};

/// zeros of `shape`, and slice index[i] += slice i of src: the adjoint of index_select. Floating slices for one place
/// are summed in the order of i, eight in their own type and such sums in double, and then added once; where
/// neighbours in memory are slices, not elements of one, one after the other (in double where more than eight meet on
/// average).
struct IndexAdd {
  int64_t axis;
  Shape shape;
  static constexpr std::string_view name = "index_add";
  static constexpr Policy policy = kAddsByIndex;
  void attributes(auto visit) const { visit("axis", axis), visit("shape", shape); }
  bool operator==(const IndexAdd&) const = default;
  Spec infer(const Operand& src, const Operand& index) const;
  void cpu(const Operand& src, const Operand& index, const Operand& out) const;
};

/// out[.., :] = weight[indices[..], :], weight (V, D). Row `padding_idx` gets no gradient (negative: no such row).
struct Embedding {
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding";
  static constexpr std::string_view cost = "one pass over what is read";
  static constexpr Policy policy = {.numeric = 2};
  void attributes(auto visit) const { visit("padding_idx", padding_idx); }
  bool operator==(const Embedding&) const = default;
  Spec infer(const Operand& indices, const Operand& weight) const;
  void cpu(const Operand& indices, const Operand& weight, const Operand& out) const;
};

/// (rows, D): row v is the sum of g's rows whose index is v, row padding_idx zero.
struct EmbeddingBackward {
  int64_t rows;
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding_backward";
  static constexpr Policy policy = kAddsByIndex;
  void attributes(auto visit) const { visit("rows", rows), visit("padding_idx", padding_idx); }
  bool operator==(const EmbeddingBackward&) const = default;
  Spec infer(const Operand& g, const Operand& indices) const;
  void cpu(const Operand& g, const Operand& indices, const Operand& out) const;
};

/// out[.., c] = 1 where c is indices[..], else 0, f32. IndexError `class 3 is out of range for 3 classes`.
struct OneHot {
  int64_t classes;
  static constexpr std::string_view name = "one_hot";
  static constexpr Policy policy = {.numeric = 0};
  void attributes(auto visit) const { visit("classes", classes); }
  bool operator==(const OneHot&) const = default;
  Spec infer(const Operand& indices) const;
  void cpu(const Operand& indices, const Operand& out) const;
};

/// DtypeError where the dtype of indices is no integer.
void check_index_dtype(DType dtype);
/// `shape` with `axes` axes from `axis` on replaced by one of `size`.
Shape with_merged(const Shape& shape, int64_t axis, int64_t axes, int64_t size);
/// An index that gather and scatter take: integers, of the rank of `shape`, no larger than it off the axis.
void check_elements(const Shape& shape, int64_t axis, const Operand& index);
/// An index that index_select takes: integers, one axis.
void check_slices(const Shape& shape, int64_t axis, const Operand& index);

}  // namespace weft::op
