// Scaled dot-product attention (arXiv 1706.03762), computed without keeping the T x S probabilities of each head.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct AttentionOptions {
  /// (..., T, S), broadcast: bool (false: not seen) or floating (added to the scores). Not together with `causal`.
  Tensor mask = {};
  /// Position i sees positions 0 .. i only. Where there are more keys than queries (S > T) the queries are the last
  /// positions: query i sees keys 0 .. i + S - T.
  bool causal = false;
  std::optional<double> scale = std::nullopt;  // of the scores; 1 / sqrt(D) where absent
  double dropout_p = 0;                        // of the probabilities
  Generator* generator = nullptr;              // that draws the dropout; the process's where absent
};

/// softmax(scale q k^T + mask) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E). Leading axes
/// broadcast, the dtypes promote; bf16 and f16 are computed in f32. DtypeError unless floating. A row that sees
/// nothing is zero. In memory, the result's last batch axis and T are in q's order, so that merging heads after a
/// split by view copies nothing.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// The same for the heads of a packed projection: qkv (..., T, 3 heads D) holds q, k and v of all heads side by side,
/// as PyTorch's in_proj_weight makes them, and (..., T, heads D) comes out. A mask is (..., heads, T, T), broadcast.
/// No part is copied, neither here nor of the gradient.
Tensor packed_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options = {});

}  // namespace weft
