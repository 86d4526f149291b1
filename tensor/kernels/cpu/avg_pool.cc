#include "tensor/kernels/cpu/pool_loops.h"

namespace weft::kernels::cpu {

void avg_pool2d(const Operand& x, const Operand& out, const PoolParams& p) {
  const bool neighbours = channels_are_neighbours(x) && channels_are_neighbours(out);
  visit_pool(out.dtype, neighbours, [&]<class S, bool kNeighbours>() {
    using C = PoolCompute<S>;
    const C size = static_cast<C>(p.kernel[0] * p.kernel[1]);
    for_each_block(out.shape(), p.kernel[0] * p.kernel[1], [&](int64_t n, int64_t h, int64_t w, int64_t c, int64_t channels) {
      C sum[kPoolBlock] = {};
      const Range a = taps_inside(h, x.size(2), p.kernel[0], p.stride[0], p.padding[0], 1);
      const Range b = taps_inside(w, x.size(3), p.kernel[1], p.stride[1], p.padding[1], 1);
      for (int64_t i = a.begin; i < a.end; ++i)
        for (int64_t j = b.begin; j < b.end; ++j) {
          const S* in = pixel<S>(x, n, c, h * p.stride[0] - p.padding[0] + i, w * p.stride[1] - p.padding[1] + j);
          const int64_t step = kNeighbours ? 1 : x.stride(1);
          for (int64_t k = 0; k < channels; ++k) sum[k] += static_cast<C>(in[k * step]);
        }
      S* to = pixel<S>(out, n, c, h, w);
      const int64_t step = kNeighbours ? 1 : out.stride(1);
      for (int64_t k = 0; k < channels; ++k) to[k * step] = static_cast<S>(sum[k] / size);
    });
  });
}

void avg_pool2d_backward(const Operand& grad, const Operand& grad_x, const PoolParams& p) {
  const bool neighbours = channels_are_neighbours(grad) && channels_are_neighbours(grad_x);
  visit_pool(grad_x.dtype, neighbours, [&]<class S, bool kNeighbours>() {
    using C = PoolCompute<S>;
    const C size = static_cast<C>(p.kernel[0] * p.kernel[1]);
    // Each pixel asks the windows that hold it, so that no two threads write to one place.
    for_each_block(grad_x.shape(), 2, [&](int64_t n, int64_t h, int64_t w, int64_t c, int64_t channels) {
      C sum[kPoolBlock] = {};
      for_each_window(h, grad.size(2), p.kernel[0], p.stride[0], p.padding[0], 1, [&](int64_t i, int64_t) {
        for_each_window(w, grad.size(3), p.kernel[1], p.stride[1], p.padding[1], 1, [&](int64_t j, int64_t) {
          const S* in = pixel<S>(grad, n, c, i, j);
          const int64_t step = kNeighbours ? 1 : grad.stride(1);
          for (int64_t k = 0; k < channels; ++k) sum[k] += static_cast<C>(in[k * step]);
        });
      });
      S* to = pixel<S>(grad_x, n, c, h, w);
      const int64_t step = kNeighbours ? 1 : grad_x.stride(1);
      for (int64_t k = 0; k < channels; ++k) to[k * step] = static_cast<S>(sum[k] / size);
    });
  });
}

}  // namespace weft::kernels::cpu
