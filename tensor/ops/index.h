// Descriptors of indexing with integer tensors. Kernels check every index before they write.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Input 0 has the values, input 1 the indices (in Embedding the other way round).
inline constexpr Policy kIndexes = {.numeric = 1};
inline constexpr Policy kAddsByIndex = {.accepts = kNumbers, .numeric = 1};

/// out[.., i, ..] = x[.., index[.., i, ..], ..] along `axis`. On the other axes, index's sizes are at most x's.
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

/// The adjoint of Gather: zeros of `shape`, then out[.., index[.., i, ..], ..] += src[.., i, ..]; src has index's
/// shape. Additions are in the order of i at any thread count; bf16 and f16 are added in f32.
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

/// Slice i of out along `axis` is slice index[i] of x; index is 1-D. If `axes` is more than 1, that number of axes of
/// x, beginning at `axis`, is treated as one axis in row-major order.
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

/// The adjoint of IndexSelect: zeros of `shape`, then slice index[i] += slice i of src. Floating slices with the same
/// index are summed in the order of i: groups of eight in their own type, the sums of groups in double. If adjacent
/// elements in memory belong to different slices, they are added one by one instead (in double if an index occurs more
/// than eight times on average).
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

/// out[.., :] = weight[indices[..], :] for weight (V, D). Row `padding_idx` gets no gradient (negative: no such row).
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

/// The gradient of the weight, (rows, D): row v is the sum of g's rows whose index is v; row padding_idx is zero.
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

/// out[.., c] is 1 if c equals indices[..], else 0; f32. IndexError `class 3 is out of range for 3 classes`.
struct OneHot {
  int64_t classes;
  static constexpr std::string_view name = "one_hot";
  static constexpr Policy policy = {.numeric = 0};
  void attributes(auto visit) const { visit("classes", classes); }
  bool operator==(const OneHot&) const = default;
  Spec infer(const Operand& indices) const;
  void cpu(const Operand& indices, const Operand& out) const;
};

/// DtypeError unless `dtype` is an integer dtype.
void check_index_dtype(DType dtype);
/// `shape` in which `axes` axes, beginning at `axis`, are replaced by one axis of `size`.
Shape with_merged(const Shape& shape, int64_t axis, int64_t axes, int64_t size);
/// Checks an index of gather and scatter: integers, the rank of `shape`, and on axes other than `axis` no larger than
/// it.
void check_elements(const Shape& shape, int64_t axis, const Operand& index);
/// Checks an index of index_select: integers, one axis.
void check_slices(const Shape& shape, int64_t axis, const Operand& index);

}  // namespace weft::op
