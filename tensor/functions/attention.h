// Scaled dot-product attention (arXiv 1706.03762), computed without keeping the T x S probabilities of each head.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct AttentionOptions {
  /// Broadcasts to (..., T, S). bool: a query ignores the keys where the mask is false. Floating: added to the scores.
  /// Cannot be combined with `causal`.
  Tensor mask = {};
  /// Position i attends to positions 0 .. i only. If there are more keys than queries (S > T), the queries are the last
  /// positions: query i attends to keys 0 .. i + S - T.
  bool causal = false;
  std::optional<double> scale = std::nullopt;  // factor of the scores; default: 1 / sqrt(D)
  double dropout_p = 0;                        // probability with which an attention probability is dropped
  Generator* generator = nullptr;              // draws the dropout; default: the process's generator
  /// Grouped queries (arXiv 2305.13245): k and v have fewer heads (axis -3) than q, whose number of heads they divide;
  /// consecutive heads of q share one of k and v.
  bool enable_gqa = false;
};

/// softmax(scale q k^T + mask) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E). Leading axes
/// broadcast and dtypes promote; bf16 and f16 are computed in f32. DtypeError unless floating. A query whose keys are
/// all masked gives a row of zeros. The result stores its last batch axis (the heads) and T in the same memory order as
/// q. If q is a view that splits the heads, the heads of the result can therefore be merged without a copy.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// Multi-head self-attention on a packed projection: qkv (..., T, 3 heads D) gives (..., T, heads D). The last axis of
/// qkv holds q of all heads, then k, then v, the layout that PyTorch's in_proj_weight produces. A mask broadcasts to
/// (..., heads, T, T). q, k, v and their gradients are not copied.
Tensor packed_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options = {});

}  // namespace weft
