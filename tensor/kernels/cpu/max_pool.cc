#include "tensor/kernels/cpu/pool_loops.h"

namespace weft::kernels::cpu {
namespace {

/// Calls f.operator()<Place>().
template <class F>
void visit_place(DType dtype, F&& f) {
  if (dtype == DType::u8) return f.template operator()<uint8_t>();
  if (dtype == DType::i32) return f.template operator()<int32_t>();
  throw DtypeError(text("places of max_pool2d are u8 or i32, not ", dtype));
}

/// One window of `channels` <= kPoolBlock channels, C the type that values are compared in.
template <class S, class Place, bool kNeighbours, class C>
void window_maxima(const Operand& x, const PoolParams& p, int64_t n, int64_t c, Range a, Range b, const int64_t (&first)[2],
                   int64_t channels, C* best, Place* place) {
  std::fill_n(best, channels, -std::numeric_limits<C>::infinity());
  // The first element of the window wins where all are -inf.
  const Place none = std::numeric_limits<Place>::max();
  const bool any = a.begin < a.end && b.begin < b.end;
  std::fill_n(place, channels, any ? static_cast<Place>(a.begin * p.kernel[1] + b.begin) : none);
  for (int64_t i = a.begin; i < a.end; ++i)
    for (int64_t j = b.begin; j < b.end; ++j) {
      const S* in = pixel<S>(x, n, c, first[0] + i * p.dilation[0], first[1] + j * p.dilation[1]);
      const int64_t step = kNeighbours ? 1 : x.stride(1);
      const Place tap = static_cast<Place>(i * p.kernel[1] + j);
      for (int64_t k = 0; k < channels; ++k) {
        const C value = static_cast<C>(in[k * step]);
        // Larger, or a NaN where there was none: written without branches, so that it becomes vector code.
        const bool wins = !(value <= best[k]) & (best[k] == best[k]);
        best[k] = wins ? value : best[k];
        place[k] = wins ? tap : place[k];
      }
    }
}

}  // namespace

DType max_pool2d_index_dtype(const PoolParams& params) {
  return checked_multiply(params.kernel[0], params.kernel[1]) <= 255 ? DType::u8 : DType::i32;
}

void max_pool2d(const Operand& x, const Operand& out, const Operand* places, const PoolParams& p) {
  const bool neighbours = channels_are_neighbours(x) && channels_are_neighbours(out) &&
                          (places == nullptr || channels_are_neighbours(*places));
  const DType place_type = places != nullptr ? places->dtype : max_pool2d_index_dtype(p);
  visit_pool(out.dtype, neighbours, [&]<class S, bool kNeighbours>() {
    visit_place(place_type, [&]<class Place>() {
      for_each_block(out.shape(), p.kernel[0] * p.kernel[1], [&](int64_t n, int64_t h, int64_t w, int64_t c, int64_t channels) {
        PoolCompute<S> best[kPoolBlock];
        Place place[kPoolBlock];
        const Range a = taps_inside(h, x.size(2), p.kernel[0], p.stride[0], p.padding[0], p.dilation[0]);
        const Range b = taps_inside(w, x.size(3), p.kernel[1], p.stride[1], p.padding[1], p.dilation[1]);
        const int64_t first[2] = {h * p.stride[0] - p.padding[0], w * p.stride[1] - p.padding[1]};
        window_maxima<S, Place, kNeighbours>(x, p, n, c, a, b, first, channels, best, place);
        S* to = pixel<S>(out, n, c, h, w);
        const int64_t step = kNeighbours ? 1 : out.stride(1);
        for (int64_t k = 0; k < channels; ++k) to[k * step] = static_cast<S>(best[k]);
        if (places == nullptr) return;
        Place* place_to = pixel<Place>(*places, n, c, h, w);
        const int64_t place_step = kNeighbours ? 1 : places->stride(1);
        for (int64_t k = 0; k < channels; ++k) place_to[k * place_step] = place[k];
      });
    });
  });
}

void max_pool2d_backward(const Operand& grad, const Operand& places, const Operand& grad_x, const PoolParams& p) {
  const bool neighbours = channels_are_neighbours(grad) && channels_are_neighbours(places) && channels_are_neighbours(grad_x);
  visit_pool(grad_x.dtype, neighbours, [&]<class S, bool kNeighbours>() {
    visit_place(places.dtype, [&]<class Place>() {
      // Each pixel asks the windows that hold it, so that no two threads write to one place.
      for_each_block(grad_x.shape(), 2, [&](int64_t n, int64_t h, int64_t w, int64_t c, int64_t channels) {
        PoolCompute<S> sum[kPoolBlock] = {};
        for_each_window(h, grad.size(2), p.kernel[0], p.stride[0], p.padding[0], p.dilation[0], [&](int64_t i, int64_t a) {
          for_each_window(w, grad.size(3), p.kernel[1], p.stride[1], p.padding[1], p.dilation[1], [&](int64_t j, int64_t b) {
            const Place tap = static_cast<Place>(a * p.kernel[1] + b);
            const S* in = pixel<S>(grad, n, c, i, j);
            const Place* place = pixel<Place>(places, n, c, i, j);
            const int64_t step = kNeighbours ? 1 : grad.stride(1), place_step = kNeighbours ? 1 : places.stride(1);
            for (int64_t k = 0; k < channels; ++k) {
              const auto value = static_cast<PoolCompute<S>>(in[k * step]);
              sum[k] += place[k * place_step] == tap ? value : PoolCompute<S>{};
            }
          });
        });
        S* to = pixel<S>(grad_x, n, c, h, w);
        const int64_t step = kNeighbours ? 1 : grad_x.stride(1);
        for (int64_t k = 0; k < channels; ++k) to[k * step] = static_cast<S>(sum[k]);
      });
    });
  });
}

void max_pool2d_gather(const Operand& x, const Operand& places, const Operand& out, const PoolParams& p) {
  visit_pool(out.dtype, false, [&]<class S, bool kNeighbours>() {
    visit_place(places.dtype, [&]<class Place>() {
      for_each_block(out.shape(), 1, [&](int64_t n, int64_t h, int64_t w, int64_t c, int64_t channels) {
        for (int64_t k = c; k < c + channels; ++k) {
          const Place place = *pixel<Place>(places, n, k, h, w);
          S& to = *pixel<S>(out, n, k, h, w);
          const int64_t a = place / p.kernel[1], b = place % p.kernel[1];
          to = place == std::numeric_limits<Place>::max()
                   ? S{}
                   : *pixel<S>(x, n, k, h * p.stride[0] - p.padding[0] + a * p.dilation[0],
                               w * p.stride[1] - p.padding[1] + b * p.dilation[1]);
        }
      });
    });
  });
}

}  // namespace weft::kernels::cpu
