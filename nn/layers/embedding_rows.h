// What Embedding and EmbeddingBag share. For nn/'s own files.
#pragma once

#include <optional>

#include "nn/layers/option_list.h"
#include "tensor/tensor.h"

namespace weft::nn::detail {

/// How the rows of a table are looked up.
struct RowOptions {
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
};

/// Row number `padding_idx`, counted from the end where negative; -1 where absent. IndexError out of range.
int64_t padding_row(std::optional<int64_t> padding_idx, int64_t rows);

/// Error where a norm is out of range.
void check_rows(const RowOptions& options);

/// Adds the options of rows that are not the default.
void list_rows(OptionList& list, std::optional<int64_t> padding_idx, const RowOptions& options);

/// Scales the rows of the weight that are looked up and longer than max_norm to it, in the weight itself.
void shorten_rows(const Tensor& indices, const Tensor& weight, const RowOptions& options);

/// How often each row is looked up: (rows).
Tensor row_counts(const Tensor& indices, const Tensor& weight);

/// Whether a gradient may be asked of x, also by who is outside of vmap.
bool needs_gradient(const Tensor& x);

/// x, whose gradient is multiplied by `scale`. Where either is a sample of vmap, composed of ops, through which
/// gradients taken outside go too; else by a hook, which costs forward nothing.
Tensor with_gradient_times(Tensor x, const Tensor& scale);

/// embedding(indices, weight, padding) of shortened rows. The gradient of a row is divided by how often it is looked up
/// where scale_grad_by_freq is set.
Tensor looked_up(const Tensor& indices, const Tensor& weight, int64_t padding, const RowOptions& options);

}  // namespace weft::nn::detail
