// For one row of results, the image rows that its windows see are copied into one line, in the order (column, row,
// channel), with zeros for padding. A window is then a contiguous run of the buffer, and the next one begins `stride`
// columns later: the windows are the overlapping rows of a matrix. That matrix times the weight is the row of results;
// its transpose times the gradient's row is that row's share of the gradient of the weight. The tile of weft's products
// (gemm_tile.h) takes both as they are.
//
// The next row of results uses the same buffer, shifted by `stride` rows: only the new rows are copied, over those that
// are no longer seen.
//
// For the weight's gradient the image is cut into parts, by the sizes alone, whose sums are added in their order.
#include "tensor/kernels/cpu/window/few_channels_conv.h"

#include <algorithm>
#include <cstring>

#include "tensor/kernels/cpu/gemm/gemm_tile.h"

namespace weft::kernels::cpu {
namespace {

template <class T> constexpr int64_t kWide = simd::kLanes<T>;
/// Elements of the buffer, so that it stays in the L1 cache, and how far it may move on before it begins anew.
template <class T> constexpr int64_t kMostLaidOut = 32768 / sizeof(T);
template <class T> constexpr int64_t kMostMoved = 8192 / sizeof(T);
/// Multiplications that a part of the image takes at least, and the most parts.
constexpr double kLeastWork = 1 << 22;
constexpr int64_t kMostParts = 16;

/// How the filters of a group are cut into panels as wide as a tile, and lines of results into pieces.
struct Cut {
  int64_t depth;          // elements of a window
  int64_t column;         // elements of a column of the buffer
  int64_t panel, panels;  // filters of a panel, a multiple of a register's lanes
  int64_t pieces, most;   // of a line, and results of a piece

  Cut(const ConvShape& s, int64_t lanes, int64_t laid_out)
      : depth(s.taps() * s.group_channels()), column(s.kernel[1] * s.group_channels()) {
    const int64_t vectors = ceil_div(s.group_filters(), lanes);
    panel = ceil_div(vectors, ceil_div(vectors, kGemmTileVectors)) * lanes;
    panels = ceil_div(s.group_filters(), panel);
    most = ceil_div(s.out[2], ceil_div(s.out[2] * s.stride[2] * column, laid_out));
    pieces = ceil_div(s.out[2], most);
  }
  template <class T> static Cut of(const ConvShape& s) { return Cut(s, kWide<T>, kMostLaidOut<T>); }
  int64_t columns(const ConvShape& s, int64_t results) const { return (results - 1) * s.stride[2] + s.kernel[2]; }
  int64_t pieces_of_image(const ConvShape& s) const { return pieces * s.out[1]; }
};

/// Adjacent results of a line, those of one group. Pieces go down the image before they go along it.
struct Piece {
  int64_t image, group, line, first, count;
  /// The i-th of an image and group.
  Piece(const ConvShape& s, const Cut& cut, int64_t image, int64_t group, int64_t i)
      : image(image),
        group(group),
        line(i % s.out[1]),
        first(i / s.out[1] * cut.most),
        count(std::min(cut.most, s.out[2] - first)) {}
  int64_t pixel(const ConvShape& s) const { return (image * s.out[1] + line) * s.out[2] + first; }
};

/// to(column, line, channel) = from(line, column, channel); lines, pixels and columns lie so many elements apart.
struct Interleaving {
  int64_t lines, columns, channels, from_line, from_pixel, to_column;

  template <int kChannels, class T> void copy(const T* from, T* to) const {
    const size_t bytes = static_cast<size_t>(kChannels > 0 ? kChannels : channels) * sizeof(T);
    for (int64_t a = 0; a < lines; ++a, from += from_line, to += channels)
      for (int64_t j = 0; j < columns; ++j) std::memcpy(to + j * to_column, from + j * from_pixel, bytes);
  }
  template <class T> void run(const T* from, T* to) const {
    switch (channels) {
      case 1: return copy<1>(from, to);
      case 2: return copy<2>(from, to);
      case 3: return copy<3>(from, to);
      case 4: return copy<4>(from, to);
      case 8: return copy<8>(from, to);
      default: return copy<0>(from, to);
    }
  }
};

/// What the windows of a piece see: the buffer described above.
template <class T> class Windows {
 public:
  Windows(const ConvShape& s, const Cut& cut, const T* x)
      : s_(s), cut_(cut), x_(x), memory_(cut.columns(s, cut.most) * cut.column + kMostMoved<T> + cut.column) {}

  /// Its first window.
  const T* of(const Piece& piece) {
    const int64_t known = std::max<int64_t>(0, s_.kernel[1] - s_.stride[1]);  // lines that the piece above has too
    const bool below = piece.line > 0 && last_ == piece.line - 1 && moved_ <= kMostMoved<T> && known > 0;
    moved_ = below ? moved_ + s_.stride[1] * s_.group_channels() : 0;
    last_ = piece.line;
    lay_out(piece, below ? known : 0, memory_.data() + moved_);
    return memory_.data() + moved_;
  }

 private:
  /// The window's lines from `first_line` on.
  void lay_out(const Piece& piece, int64_t first_line, T* to) const {
    const int64_t columns = cut_.columns(s_, piece.count), column = cut_.column, channels = s_.group_channels();
    const int64_t left = piece.first * s_.stride[2] - s_.padding[2], top = piece.line * s_.stride[1] - s_.padding[1];
    // Columns [begin, end) and the window's lines [first, last) are inside of the image.
    const int64_t begin = std::clamp<int64_t>(-left, 0, columns), end = std::clamp(s_.in[2] - left, begin, columns);
    const int64_t first = std::clamp(-top, first_line, s_.kernel[1]),
                  last = std::clamp(s_.in[1] - top, first, s_.kernel[1]);
    const auto clear = [&](int64_t from_column, int64_t to_column, int64_t from_line, int64_t to_line) {
      if (from_line == to_line) return;
      for (int64_t j = from_column; j < to_column; ++j)
        std::fill(to + j * column + from_line * channels, to + j * column + to_line * channels, T{});
    };
    clear(0, begin, first_line, s_.kernel[1]);
    clear(end, columns, first_line, s_.kernel[1]);
    clear(begin, end, first_line, first);
    clear(begin, end, last, s_.kernel[1]);
    if (begin == end || first == last) return;
    const int64_t line = s_.in[2] * s_.channels;
    const T* from = x_ + (piece.image * s_.in[1] + top + first) * line + (left + begin) * s_.channels;
    Interleaving{last - first, end - begin, channels, line, s_.channels, column}.run(
        from + piece.group * channels, to + begin * column + first * channels);
  }

  const ConvShape& s_;
  const Cut& cut_;
  const T* x_;
  Scratch<T> memory_;
  int64_t moved_ = 0, last_ = -1;
};

/// The gradient's lines with whole registers of filters: where they lie, or in a copy with zeros.
template <class T> class GradientLines {
 public:
  GradientLines(const ConvShape& s, const Cut& cut, const T* grad)
      : s_(s),
        grad_(grad),
        filters_(s.group_filters()),
        width_(ceil_div(filters_, kWide<T>) * kWide<T>),
        copy_(width_ == filters_ ? 0 : cut.most * width_) {}
  /// From one result to the next.
  int64_t step() const { return width_ == filters_ ? s_.filters : width_; }
  const T* of(const Piece& piece) const {
    const T* g = grad_ + piece.pixel(s_) * s_.filters + piece.group * filters_;
    if (width_ == filters_) return g;
    for (int64_t j = 0; j < piece.count; ++j) {
      std::copy_n(g + j * s_.filters, filters_, copy_.data() + j * width_);
      std::fill_n(copy_.data() + j * width_ + filters_, width_ - filters_, T{});
    }
    return copy_.data();
  }

 private:
  const ConvShape& s_;
  const T* grad_;
  int64_t filters_, width_;
  Scratch<T> copy_;
};

/// f(panel, its first filter, how many of the group's filters it has).
template <class F> void for_panels(const ConvShape& s, const Cut& cut, const F& f) {
  for (int64_t p = 0; p < cut.panels; ++p) f(p, p * cut.panel, std::min(cut.panel, s.group_filters() - p * cut.panel));
}

/// sum (panels, depth, panel) = or, where `add`, += what a piece adds.
template <class T>
void add_piece(const ConvShape& s, const Cut& cut, int64_t results, const T* windows, const T* grad, int64_t grad_step,
               bool add, T* sum) {
  for_panels(s, cut, [&](int64_t p, int64_t first, int64_t filters) {
    T* c = sum + p * cut.depth * cut.panel;
    gemm_strips<T>({results, windows, 1, s.stride[2] * cut.column, grad + first, grad_step, c, cut.panel, kWide<T>,
                    add ? c : nullptr, cut.panel, nullptr},
                   cut.depth, ceil_div(filters, kWide<T>));
  });
}

/// f(row of a window in the buffer, the place of its element of the first filter in the weight).
template <class F> void for_window_rows(const ConvShape& s, const WeightStrides& strides, const F& f) {
  int64_t row = 0;
  for (int64_t b = 0; b < s.kernel[2]; ++b)
    for (int64_t a = 0; a < s.kernel[1]; ++a)
      for (int64_t c = 0; c < s.group_channels(); ++c, ++row) f(row, c * strides[1] + a * strides[3] + b * strides[4]);
}

/// A weight whose strides say where a filter of a group lies; groups are `group` elements apart.
template <class T> struct GroupedWeight {
  const T* data;
  WeightStrides strides;
  int64_t group;
};

/// packed (groups, panels, depth, panel), with zeros for filters that are not there.
template <class T> void pack(const ConvShape& s, const Cut& cut, const GroupedWeight<T>& weight, T* packed) {
  for (int64_t g = 0; g < s.groups; ++g)
    for_panels(s, cut, [&](int64_t, int64_t first, int64_t filters) {
      const T* from = weight.data + g * weight.group + first * weight.strides[0];
      for_window_rows(s, weight.strides, [&](int64_t row, int64_t at) {
        T* to = packed + row * cut.panel;
        for (int64_t o = 0; o < filters; ++o) to[o] = from[at + o * weight.strides[0]];
        std::fill_n(to + filters, cut.panel - filters, T{});
      });
      packed += cut.depth * cut.panel;
    });
}

template <class T>
void results_of(const ConvShape& s, const T* x, const GroupedWeight<T>& weight, const T* bias, T* out) {
  const Cut cut = Cut::of<T>(s);
  const int64_t block = cut.panels * cut.depth * cut.panel, pieces = cut.pieces_of_image(s);
  const Scratch<T> packed(checked_multiply(s.groups, block));
  pack(s, cut, weight, packed.data());
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / (cut.most * cut.depth * s.group_filters()));
  parallel_for(s.batch * s.groups * pieces, grain, [&](int64_t begin, int64_t end) {
    Windows<T> windows(s, cut, x);
    for (int64_t i = begin; i < end; ++i) {
      const Piece piece(s, cut, i / pieces / s.groups, i / pieces % s.groups, i % pieces);
      const T* rows = windows.of(piece);
      const int64_t filter = piece.group * s.group_filters();
      for_panels(s, cut, [&](int64_t p, int64_t first, int64_t filters) {
        const int last = static_cast<int>((filters - 1) % kWide<T> + 1);
        gemm_strips<T>({cut.depth, rows, s.stride[2] * cut.column, 1,
                        packed.data() + piece.group * block + p * cut.depth * cut.panel, cut.panel,
                        out + piece.pixel(s) * s.filters + filter + first, s.filters, last,
                        bias == nullptr ? nullptr : bias + filter + first, 0, nullptr},
                       piece.count, ceil_div(filters, kWide<T>));
      });
    }
  });
}

}  // namespace

bool fits_few_channels(const ConvShape& s, ConvDirection direction) {
  if (!s.is_flat() || s.dilation != Size3(1)) return false;
  if (direction != ConvDirection::backward_data) return true;
  return s.stride == Size3(1) && s.padding[1] < s.kernel[1] && s.padding[2] < s.kernel[2];
}

/// Measured on 37 shapes that it accepts, on Zen 5 with AVX-512 and limited to AVX2: 1.25 and 1.27 times oneDNN's
/// speed in the median, at least 0.95.
template <> bool prefers_few_channels<float>(const ConvShape& s, ConvDirection direction) {
  return direction == ConvDirection::backward_weights && fits_few_channels(s, direction) && s.groups == 1 &&
         s.channels <= 4 && s.out[2] >= 28 && s.filters >= 32 && s.filters % 16 == 0 &&
         s.stride[2] <= (s.kernel[2] + 1) / 2;
}

/// Against products of windows laid out in memory, on Zen 3: 1.1 to 4 times as fast on the shapes that it accepts. With
/// more channels those products are faster, and short lines leave tiles half empty.
template <> bool prefers_few_channels<double>(const ConvShape& s, ConvDirection direction) {
  const int64_t channels = s.group_channels(), filters = s.group_filters();
  const int64_t least = std::min(channels, filters);
  return fits_few_channels(s, direction) && !s.is_pointwise() && s.stride[1] <= s.kernel[1] &&
         s.stride[2] <= s.kernel[2] && least <= std::min<int64_t>(2 * s.out[2], 32) &&
         std::max(channels, filters) <= 1024 / least;
}

template <class T>
void few_channels_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                       T* out) {
  results_of<T>(s, x, {weight, strides, s.group_filters() * strides[0]}, bias, out);
}

template <class T>
void few_channels_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                     T* grad_x) {
  ConvShape turned = s;
  turned.channels = s.filters, turned.filters = s.channels, turned.in = s.out, turned.out = s.in;
  turned.padding = {0, s.kernel[1] - 1 - s.padding[1], s.kernel[2] - 1 - s.padding[2]};
  const T* last_tap = weight + (s.kernel[1] - 1) * strides[3] + (s.kernel[2] - 1) * strides[4];
  const WeightStrides back = {strides[1], strides[0], strides[2], -strides[3], -strides[4]};
  results_of<T>(turned, grad, {last_tap, back, s.group_filters() * strides[0]}, nullptr, grad_x);
}

template <class T>
void few_channels_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                        const WeightStrides& strides) {
  const Cut cut = Cut::of<T>(s);
  const int64_t block = cut.panels * cut.depth * cut.panel, in_image = cut.pieces_of_image(s);
  const int64_t pieces = s.batch * in_image;
  const double work = static_cast<double>(s.out_pixels()) * static_cast<double>(cut.depth * s.group_filters());
  const auto parts = std::clamp<int64_t>(static_cast<int64_t>(work / kLeastWork), 1, std::min(pieces, kMostParts));
  const Scratch<T> sums(checked_multiply(s.groups * parts, block));  // (groups, parts, panels, depth, panel)
  parallel_for(s.groups * parts, 1, [&](int64_t item_begin, int64_t item_end) {
    Windows<T> windows(s, cut, x);
    const GradientLines<T> lines(s, cut, grad);
    for (int64_t item = item_begin; item < item_end; ++item)
      for (int64_t part = item % parts, begin = pieces * part / parts, i = begin; i < pieces * (part + 1) / parts;
           ++i) {
        const Piece piece(s, cut, i / in_image, item / parts, i % in_image);
        add_piece(s, cut, piece.count, windows.of(piece), lines.of(piece), lines.step(), i > begin,
                  sums.data() + item * block);
      }
  });
  for (int64_t g = 0; g < s.groups; ++g) {
    T* const total = sums.data() + g * parts * block;
    parallel_for(block, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t part = 1; part < parts; ++part)
        for (int64_t i = begin; i < end; ++i) total[i] += total[part * block + i];
    });
  }
  for (int64_t o = 0; o < s.filters; ++o) {
    const int64_t in_group = o % s.group_filters();
    const T* from = sums.data() + o / s.group_filters() * parts * block + in_group / cut.panel * cut.depth * cut.panel +
                    in_group % cut.panel;
    for_window_rows(s, strides,
                    [&](int64_t row, int64_t at) { grad_weight[o * strides[0] + at] = from[row * cut.panel]; });
  }
}

template void few_channels_conv<double>(const ConvShape&, const double*, const double*, const WeightStrides&,
                                        const double*, double*);
template void few_channels_conv_backward_data<double>(const ConvShape&, const double*, const double*,
                                                      const WeightStrides&, double*);
template void few_channels_conv_backward_weights<float>(const ConvShape&, const float*, const float*, float*,
                                                        const WeightStrides&);
template void few_channels_conv_backward_weights<double>(const ConvShape&, const double*, const double*, double*,
                                                         const WeightStrides&);

}  // namespace weft::kernels::cpu
