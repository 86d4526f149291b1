// The best that oneDNN itself does for a product or a convolution, in any way it offers, reorders included: what weft's
// ops are held against.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tensor/core/dtype.h"

namespace weft::bench {

/// One way of doing a piece of work; `run` may be called again and again.
struct Way {
  std::string name;
  std::function<void()> run;
};

/// c = a b for `batch` matrices (m, k) and (k, n), each dense and row-major or transposed: dnnl_sgemm and the
/// primitive. In f32 or bf16, of which dnnl_sgemm knows nothing.
std::vector<Way> matmul_ways(int64_t batch, int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b,
                             DType dtype = f32);

struct ConvSizes {
  int64_t batch, channels, size, filters, kernel, stride, padding;
  int64_t out_size() const { return (size + 2 * padding - kernel) / stride + 1; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_size() * out_size() * filters * channels * kernel * kernel);
  }
};
enum class Direction { forward, backward_data, backward_weights };

/// Activations as plain NCHW with OIHW weights, as channels-last with HWIO weights, and channels-last around whatever
/// layout oneDNN likes best, by direct convolution and, where oneDNN has it, by Winograd's filtering. Whatever is not
/// given in the layout that the primitive wants is reordered in every run: weights change from step to step.
std::vector<Way> conv_ways(const ConvSizes& sizes, Direction direction, DType dtype = f32);

/// The fastest, measured in turns.
const Way& fastest(const std::vector<Way>& ways);

}  // namespace weft::bench
