// Indexing with tensors of integers. Indices are always checked: IndexError `index 7 is out of range for 5 rows`.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// out[i][j] = x[index[i][j]][j] for axis 0, and so on: `index` has x's rank, and sizes up to x's on the other axes.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
/// Slices of `axis` in the order of the 1-D `index`.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index);
/// The rows `indices` (any shape, i64 or i32) of `weight` (V, D): shape indices + (D). The gradient of row `padding_idx` is
/// zero (negative: none).
Tensor embedding(const Tensor& indices, const Tensor& weight, int64_t padding_idx = -1);
/// indices (any shape) to f32 vectors of `classes` with one 1; classes = max + 1 where absent. No gradient.
Tensor one_hot(const Tensor& indices, std::optional<int64_t> classes = std::nullopt);

/// zeros of `shape`, with src[i][j] added at [index[i][j]][j] for axis 0, and so on: the adjoint of gather. The same bits at
/// any thread count.
Tensor scatter_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape);
/// zeros of `shape`, with the slices of `src` added at the places `index` names: the adjoint of index_select.
Tensor index_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape);
/// The gradient of embedding's weight, which has `rows` rows.
Tensor embedding_backward(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding_idx);

namespace op {

/// See gather.
struct Gather {
  int64_t axis;
  static constexpr std::string_view name = "gather";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Gather&) const = default;
  Spec infer(const Tensor& x, const Tensor& index) const;
  void run(const Tensor& x, const Tensor& index, Tensor& out) const;
};

/// See scatter_add.
struct ScatterAdd {
  int64_t axis;
  Shape shape;
  static constexpr std::string_view name = "scatter_add";
  void attributes(auto visit) const { visit("axis", axis), visit("shape", shape); }
  bool operator==(const ScatterAdd&) const = default;
  Spec infer(const Tensor& src, const Tensor& index) const;
  void run(const Tensor& src, const Tensor& index, Tensor& out) const;
};

/// See index_select.
struct IndexSelect {
  int64_t axis;
  static constexpr std::string_view name = "index_select";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const IndexSelect&) const = default;
  Spec infer(const Tensor& x, const Tensor& index) const;
  void run(const Tensor& x, const Tensor& index, Tensor& out) const;
};

/// See index_add.
struct IndexAdd {
  int64_t axis;
  Shape shape;
  static constexpr std::string_view name = "index_add";
  void attributes(auto visit) const { visit("axis", axis), visit("shape", shape); }
  bool operator==(const IndexAdd&) const = default;
  Spec infer(const Tensor& src, const Tensor& index) const;
  void run(const Tensor& src, const Tensor& index, Tensor& out) const;
};

/// See embedding.
struct Embedding {
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding";
  void attributes(auto visit) const { visit("padding_idx", padding_idx); }
  bool operator==(const Embedding&) const = default;
  Spec infer(const Tensor& indices, const Tensor& weight) const;
  void run(const Tensor& indices, const Tensor& weight, Tensor& out) const;
};

/// See embedding_backward.
struct EmbeddingBackward {
  int64_t rows;
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding_backward";
  void attributes(auto visit) const { visit("rows", rows), visit("padding_idx", padding_idx); }
  bool operator==(const EmbeddingBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& indices) const;
  void run(const Tensor& g, const Tensor& indices, Tensor& out) const;
};

/// See one_hot.
struct OneHot {
  int64_t classes;
  static constexpr std::string_view name = "one_hot";
  void attributes(auto visit) const { visit("classes", classes); }
  bool operator==(const OneHot&) const = default;
  Spec infer(const Tensor& indices) const;
  void run(const Tensor& indices, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
