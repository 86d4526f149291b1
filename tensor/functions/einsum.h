// Sums of products named by letters.
#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The sum of products that `equation` spells, as in PyTorch: `einsum("bij,bjk->bik", {a, b})` is a batched matmul.
/// Each axis has a letter (case matters); letters that the right side does not name are summed over; a letter twice in
/// one operand is its diagonal. `...` stands for any number of axes, aligned right and broadcast. Without `->` the
/// result has the axes of the ellipsis, then every letter that occurs once, in alphabetical order (capitals first). An
/// axis of size 1 broadcasts. Pairs are contracted by matmul, the pair that shrinks most first. Error for a malformed
/// equation, naming the character; ShapeError where sizes differ; DtypeError for a matmul of bool.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace weft
