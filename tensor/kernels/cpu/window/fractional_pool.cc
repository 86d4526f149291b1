#include <array>

#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {
namespace {

/// Where the windows of an axis begin, computed in the dtype of u as PyTorch does: other roundings are other windows.
template <class U> void begin_windows(U u, int64_t size, int64_t kernel, std::vector<int64_t>& begins) {
  if (!(u >= 0 && u <= 1)) throw Error(text("random_samples must lie between 0 and 1, not ", u));
  const int64_t last = static_cast<int64_t>(begins.size()) - 1;
  const U step = static_cast<U>(static_cast<double>(size - kernel) / static_cast<double>(std::max<int64_t>(last, 1)));
  for (int64_t i = 0; i < last; ++i)
    begins[static_cast<size_t>(i)] = std::min(  // beyond 2^24 floats round up
        static_cast<int64_t>((static_cast<U>(i) + u) * step) - static_cast<int64_t>(u * step), size - kernel);
  begins.back() = size - kernel;
}

/// The windows of one channel of one image: where they begin along each of its three axes.
struct PlaneWindows {
  explicit PlaneWindows(const Operand& out) {
    for (size_t i = 0; i < 3; ++i) begins[i].resize(static_cast<size_t>(out.shape()[i + 2]));
  }
  template <class U> void place(const Operand& x, const Operand& samples, const Size3& kernel, int64_t n, int64_t c) {
    const U* u = samples.data<U>() + n * samples.stride(0) + c * samples.stride(1);
    for (int64_t i = 0; i < 3; ++i)
      begin_windows(u[i * samples.stride(2)], x.size(i + 2), kernel[i], begins[static_cast<size_t>(i)]);
  }
  std::array<std::vector<int64_t>, 3> begins;
};

/// A row of windows: the largest element of each so far, and which of the window's elements it is.
template <class S> class LineOfMaxima {
  using C = Compute<S>;
  using I = IndexLane<C>;

 public:
  explicit LineOfMaxima(int64_t width) : width_(width), best_(width), taps_(width) {}

  void begin() {
    std::fill_n(best_.data(), width_, -std::numeric_limits<C>::infinity());
    std::fill_n(taps_.data(), width_, I{0});
  }
  /// Element `tap` of window w is row[columns[w]]: the first of equal ones stays, and the first NaN.
  void look(const S* row, const int64_t* columns, I tap) {
    C* const best = best_.data();
    I* const taps = taps_.data();
#pragma GCC ivdep
    for (int64_t w = 0; w < width_; ++w) {
      const C value = static_cast<C>(row[columns[w]]), before = best[w];
      const bool wins = simd::takes_place(value, before);
      best[w] = wins ? value : before;
      taps[w] = wins ? tap : taps[w];
    }
  }
  C best(int64_t w) const { return best_.data()[w]; }
  I tap(int64_t w) const { return taps_.data()[w]; }

 private:
  int64_t width_;
  Scratch<C> best_;
  Scratch<I> taps_;
};

/// Where the elements of a window lie, from its first one, in row-major order.
std::vector<int64_t> taps_of(const Size3& kernel, int64_t slice, int64_t row, int64_t column) {
  std::vector<int64_t> taps;
  for (int64_t a = 0; a < kernel.depth; ++a)
    for (int64_t b = 0; b < kernel.height; ++b)
      for (int64_t c = 0; c < kernel.width; ++c) taps.push_back(a * slice + b * row + c * column);
  return taps;
}

template <class S, class U>
void maxima(const Operand& x, const Operand& samples, const Size3& kernel, const Operand& out, const Operand& indices) {
  constexpr int64_t kWork = 32768;  // of one piece
  const int64_t channels = x.size(1), width = out.size(4), height = out.size(3), rows = out.size(2) * height;
  const std::vector<int64_t> taps = taps_of(kernel, x.stride(2), x.stride(3), x.stride(4));
  const std::vector<int64_t> numbers = taps_of(kernel, x.size(3) * x.size(4), x.size(4), 1);
  const auto line_at = [](const Operand& t, int64_t n, int64_t c, int64_t d, int64_t h) {
    return n * t.stride(0) + c * t.stride(1) + d * t.stride(2) + h * t.stride(3);
  };
  const int64_t grain = std::max<int64_t>(1, kWork / (width * std::ssize(taps)));
  parallel_for(x.size(0) * channels * rows, grain, [&](int64_t begin, int64_t end) {
    PlaneWindows windows(out);
    LineOfMaxima<S> maxima(width);
    std::vector<int64_t> columns(static_cast<size_t>(width));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / rows / channels, c = i / rows % channels, d = i % rows / height, h = i % height;
      if (i == begin || i % rows == 0) {
        windows.place<U>(x, samples, kernel, n, c);
        for (size_t w = 0; w < columns.size(); ++w) columns[w] = windows.begins[2][w] * x.stride(4);
      }
      const int64_t from_d = windows.begins[0][static_cast<size_t>(d)];
      const int64_t from_h = windows.begins[1][static_cast<size_t>(h)];
      const S* from = x.data<S>() + line_at(x, n, c, from_d, from_h);
      maxima.begin();
      for (size_t tap = 0; tap < taps.size(); ++tap)
        maxima.look(from + taps[tap], columns.data(), static_cast<IndexLane<Compute<S>>>(tap));
      S* to = out.data<S>() + line_at(out, n, c, d, h);
      int64_t* index = indices.data<int64_t>() + line_at(indices, n, c, d, h);
      const int64_t first = (from_d * x.size(3) + from_h) * x.size(4);
      for (int64_t w = 0; w < width; ++w) {
        to[w * out.stride(4)] = static_cast<S>(maxima.best(w));
        index[w * indices.stride(4)] =
            first + windows.begins[2][static_cast<size_t>(w)] + numbers[static_cast<size_t>(maxima.tap(w))];
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::FractionalMaxPool::cpu(const Operand& x, const Operand& samples, const Operand& out,
                                const Operand& indices) const {
  if (out.numel() == 0) return;
  visit_floating(x.dtype, [&]<class S>() {
    visit_precision(samples.dtype, [&]<class U>() { maxima<S, U>(x, samples, kernel, out, indices); });
  });
}

}  // namespace weft
