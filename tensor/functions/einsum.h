// Sums of products named by letters.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The sum of products that `equation` describes, as in PyTorch: `einsum("bij,bjk->bik", {a, b})` is a batched matmul.
/// Each axis has a letter (case matters). Letters missing on the right side are summed over. A letter that occurs twice
/// in one operand selects its diagonal. `...` stands for any number of axes, which are aligned right and broadcast.
/// Without `->`, the result has the axes of the ellipsis, then every letter that occurs once, in alphabetical order
/// (capitals first). An axis of size 1 broadcasts. Operands are contracted pairwise by matmul; the pair whose
/// contraction reduces the size most goes first. Error for a malformed equation, naming the character; ShapeError if
/// sizes differ; DtypeError for a matmul of bool.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

template <std::same_as<Tensor>... More>
Tensor einsum(std::string_view equation, const Tensor& first, const More&... more) {
  return einsum(equation, std::vector<Tensor>{first, more...});
}

}  // namespace weft
