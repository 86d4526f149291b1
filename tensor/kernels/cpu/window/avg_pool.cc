#include "tensor/kernels/cpu/window/long_lines.h"
#include "tensor/kernels/cpu/window/mean_rows.h"

namespace weft::kernels::cpu {
namespace {

/// One row of linked_means; [a0, a1) are the rows it reads.
template <class S>
void line_of_means(Image<S> from, const Link* a0, const Link* a1, const Links& columns, int64_t window,
                   int64_t channels, int64_t width, Image<S> to, int64_t h) {
  using C = Compute<S>;
  constexpr int N = simd::kLanes<C>;
  const auto size = simd::splat<C, N>(static_cast<C>(window));
  for (int64_t w = 0; w < width; ++w) {
    const Link *b0 = columns.begin(w), *b1 = columns.end(w);
    with_counts(a1 - a0, b1 - b0, [=]<int A, int B>() {
      for_each_vector<N>(channels, from.channel == 1 && to.channel == 1, [=]<bool kFull>(int64_t c, int count) {
        simd::Vec<C, N> sum{};
        for (const Link* a = a0; a != (A ? a0 + A : a1); ++a) {
          simd::Vec<C, N> line{};  // line by line, so that a large window loses no more than a sum over its lines
          for (const Link* b = b0; b != (B ? b0 + B : b1); ++b)
            line += load_channels<kFull, C, N>(from.at(a->at, b->at) + c * from.channel, from.channel, count);
          sum += line;
        }
        store_channels<kFull, C, N>(to.at(h, w) + c * to.channel, to.channel, sum / size, count);
      });
    });
  }
}

/// The same of images turned to channels-last, band by band.
template <class S>
void channels_last_means(const Operand& from, const Operand& to, const Links& rows, const Links& columns,
                         int64_t window) {
  for_each_band(to, std::max(image_bytes(from), image_bytes(to)), [&](int64_t n, const RowRange& band) {
    const ChannelsLastRows in(from, linked_rows(rows, band)), out(to, band);
    in.read(from, n);
    for (int64_t h = band.begin; h < band.end; ++h)
      line_of_means(in.as<S>(), rows.begin(h), rows.end(h), columns, window, to.size(1), to.size(3), out.as<S>(), h);
    out.write(to, n);
  });
}

/// Whether registers are better filled with neighbors in a row. Windows that reach far beyond the image are not for a
/// line that holds what lies around it.
bool prefers_rows(const Operand& from, const Operand& to, const RowSums& columns) {
  const int64_t channels = to.size(1);
  const bool neighbors = channels > 1 && from.stride(1) == 1 && to.stride(1) == 1;
  return channels < kFewChannels && channels <= to.size(3) && !neighbors &&
         columns.length <= 2 * std::max(columns.elements, columns.width);
}

/// linked_means() along the rows of each channel.
template <class S>
void means_along_rows(const Operand& from, const Operand& to, const Links& rows, const RowSums& columns,
                      int64_t window) {
  constexpr int64_t kWork = 65536;  // of one piece
  const int64_t channels = to.size(1), height = to.size(2);
  parallel_for(to.size(0) * channels * height, std::max<int64_t>(1, kWork / columns.length),
               [&](int64_t begin, int64_t end) {
                 RowSummer<S> sums(columns);
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t n = i / height / channels, c = i / height % channels, h = i % height;
                   const Image<S> x(from, n), y(to, n);
                   sums.begin();
                   for (const Link* a = rows.begin(h); a != rows.end(h); ++a)
                     sums.add(x.at(a->at, 0) + c * x.channel, x.column);
                   sums.write(static_cast<Compute<S>>(window), y.at(h, 0) + c * y.channel, y.column);
                 }
               });
}

/// to(pixel) = the sum of from over the pixel's links, divided by the size of a window: both directions of the mean.
template <class S>
void linked_means(const Operand& from, const Operand& to, const Links& rows, const Links& columns, const RowSums& along,
                  const Pool2dOptions& o) {
  const int64_t window = o.kernel_size.height * o.kernel_size.width;
  if (prefers_rows(from, to, along)) return means_along_rows<S>(from, to, rows, along, window);
  if (should_copy_to_channels_last(from) || should_copy_to_channels_last(to))
    return channels_last_means<S>(from, to, rows, columns, window);
  for_each_row(to.shape(), 2, [&](int64_t n, int64_t h) {
    line_of_means<S>(Image<S>(from, n), rows.begin(h), rows.end(h), columns, window, to.size(1), to.size(3),
                     Image<S>(to, n), h);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::AvgPool2d::cpu(const Operand& x, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class S>() {
    const auto pool = [](const Operand& from, const Operand& to, const Pool2dOptions& o) {
      linked_means<S>(from, to, Links::of_windows(windows_of(o, 0), from.size(2), to.size(2)),
                      Links::of_windows(windows_of(o, 1), from.size(3), to.size(3)),
                      RowSums::of_windows(windows_of(o, 1), from.size(3), to.size(3)), o);
    };
    const auto part = [&](const Operand& from, const std::array<Operand, 1>& to, const Pool2dOptions& o) {
      pool(from, to[0], o);
    };
    if (!pool_in_blocks(x, std::array{out}, options, part)) pool(x, out, options);
  });
}

void op::AvgPool2dBackward::cpu(const Operand& g, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class S>() {
    linked_means<S>(g, out, Links::of_pixels(windows_of(options, 0), out.size(2), g.size(2)),
                    Links::of_pixels(windows_of(options, 1), out.size(3), g.size(3)),
                    RowSums::of_pixels(windows_of(options, 1), out.size(3), g.size(3)), options);
  });
}

}  // namespace weft
