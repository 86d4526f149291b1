// For one row of results, the image rows that its windows see are copied into one line, in the order (column, row,
// channel), with zeros for padding. A window is then a contiguous run of the buffer, and the next one begins `stride`
// columns later: the windows are the overlapping rows of a matrix. Its transpose times the gradient's row is that row's
// share of the gradient of the weight; the tile of weft's products (gemm_tile.h) takes both as they are.
//
// The next row of results uses the same buffer, shifted by `stride` rows: only the new rows are copied, over those that
// are no longer seen.
//
// The image is cut into parts, by the sizes alone, whose sums are added in their order.
#include "tensor/kernels/cpu/window/few_channels_conv.h"

#include <algorithm>
#include <cstring>

#include "tensor/kernels/cpu/gemm/gemm_tile.h"

namespace weft::kernels::cpu {
namespace {

constexpr int N = simd::kLanes<float>;
/// Floats of the buffer, so that it stays in the L1 cache, and how far it may move on before it begins anew.
constexpr int64_t kMostLaidOut = 8192, kMostMoved = 2048;
/// Multiplications that a part of the image takes at least, and the most parts.
constexpr double kLeastWork = 1 << 22;
constexpr int64_t kMostParts = 16;

/// How filters are cut into panels as wide as a tile, and lines of results into pieces.
struct Cut {
  int64_t depth;          // elements of a window
  int64_t column;         // floats of a column of the buffer
  int64_t panel, panels;  // filters of a panel, a multiple of N
  int64_t pieces, most;   // of a line, and results of a piece

  explicit Cut(const ConvShape& s) : depth(s.taps() * s.channels), column(s.kernel[1] * s.channels) {
    const int64_t vectors = ceil_div(s.filters, N);
    panel = ceil_div(vectors, ceil_div(vectors, kGemmTileVectors)) * N;
    panels = ceil_div(s.filters, panel);
    most = ceil_div(s.out[2], ceil_div(s.out[2] * s.stride[2] * column, kMostLaidOut));
    pieces = ceil_div(s.out[2], most);
  }
  int64_t columns(const ConvShape& s, int64_t results) const { return (results - 1) * s.stride[2] + s.kernel[2]; }
};

/// Adjacent results of a line. Pieces go down the image before they go along it.
struct Piece {
  int64_t image, line, first, count;
  Piece(const ConvShape& s, const Cut& cut, int64_t i)
      : image(i / s.out[1] / cut.pieces),
        line(i % s.out[1]),
        first(i / s.out[1] % cut.pieces * cut.most),
        count(std::min(cut.most, s.out[2] - first)) {}
  int64_t pixel(const ConvShape& s) const { return (image * s.out[1] + line) * s.out[2] + first; }
};

/// to(column, line, channel) = from(line, column, channel); lines `from_line` and columns `to_column` floats apart.
template <int kChannels>
void interleave(const float* from, int64_t from_line, int64_t columns, int64_t lines, float* to, int64_t to_column) {
  for (int64_t a = 0; a < lines; ++a, from += from_line, to += kChannels)
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(to + j * to_column, from + j * kChannels, kChannels * sizeof(float));
}

/// What the windows of a piece see: the buffer described above.
class Windows {
 public:
  Windows(const ConvShape& s, const Cut& cut, const float* x)
      : s_(s), cut_(cut), x_(x), memory_(cut.columns(s, cut.most) * cut.column + kMostMoved + cut.column) {}

  /// Its first window.
  const float* of(const Piece& piece) {
    const int64_t known = std::max<int64_t>(0, s_.kernel[1] - s_.stride[1]);  // lines that the piece above has too
    const bool below = piece.line > 0 && last_ == piece.line - 1 && moved_ <= kMostMoved && known > 0;
    moved_ = below ? moved_ + s_.stride[1] * s_.channels : 0;
    last_ = piece.line;
    lay_out(piece, below ? known : 0, memory_.data() + moved_);
    return memory_.data() + moved_;
  }

 private:
  /// The window's lines from `first_line` on.
  void lay_out(const Piece& piece, int64_t first_line, float* to) const {
    const int64_t columns = cut_.columns(s_, piece.count), column = cut_.column, channels = s_.channels;
    const int64_t left = piece.first * s_.stride[2] - s_.padding[2], top = piece.line * s_.stride[1] - s_.padding[1];
    // Columns [begin, end) and the window's lines [first, last) are inside of the image.
    const int64_t begin = std::clamp<int64_t>(-left, 0, columns), end = std::clamp(s_.in[2] - left, begin, columns);
    const int64_t first = std::clamp(-top, first_line, s_.kernel[1]),
                  last = std::clamp(s_.in[1] - top, first, s_.kernel[1]);
    const auto clear = [&](int64_t from_column, int64_t to_column, int64_t from_line, int64_t to_line) {
      if (from_line == to_line) return;
      for (int64_t j = from_column; j < to_column; ++j)
        std::fill(to + j * column + from_line * channels, to + j * column + to_line * channels, 0.0f);
    };
    clear(0, begin, first_line, s_.kernel[1]);
    clear(end, columns, first_line, s_.kernel[1]);
    clear(begin, end, first_line, first);
    clear(begin, end, last, s_.kernel[1]);
    if (begin == end || first == last) return;
    const int64_t line = s_.in[2] * channels;
    const float* from = x_ + (piece.image * s_.in[1] + top + first) * line + (left + begin) * channels;
    float* inside = to + begin * column + first * channels;
    switch (channels) {
      case 1: return interleave<1>(from, line, end - begin, last - first, inside, column);
      case 2: return interleave<2>(from, line, end - begin, last - first, inside, column);
      case 3: return interleave<3>(from, line, end - begin, last - first, inside, column);
      default: return interleave<4>(from, line, end - begin, last - first, inside, column);
    }
  }

  const ConvShape& s_;
  const Cut& cut_;
  const float* x_;
  Scratch<float> memory_;
  int64_t moved_ = 0, last_ = -1;
};

/// The gradient's lines with whole registers of filters: where they lie, or in a copy with zeros.
class GradientLines {
 public:
  GradientLines(const ConvShape& s, const Cut& cut, const float* grad)
      : s_(s), grad_(grad), width_(ceil_div(s.filters, N) * N), copy_(width_ == s.filters ? 0 : cut.most * width_) {}
  int64_t width() const { return width_; }
  const float* of(const Piece& piece) const {
    const float* g = grad_ + piece.pixel(s_) * s_.filters;
    if (width_ == s_.filters) return g;
    for (int64_t j = 0; j < piece.count; ++j) {
      std::copy_n(g + j * s_.filters, s_.filters, copy_.data() + j * width_);
      std::fill_n(copy_.data() + j * width_ + s_.filters, width_ - s_.filters, 0.0f);
    }
    return copy_.data();
  }

 private:
  const ConvShape& s_;
  const float* grad_;
  int64_t width_;
  Scratch<float> copy_;
};

/// sum (panels, depth, panel) = or, where `add`, += what a piece adds.
void add_piece(const ConvShape& s, const Cut& cut, int64_t results, const float* windows, const float* grad,
               int64_t width, bool add, float* sum) {
  for (int64_t p = 0; p < cut.panels; ++p) {
    const int64_t vectors = std::min(cut.panel, width - p * cut.panel) / N;
    float* c = sum + p * cut.depth * cut.panel;
    gemm_strips<float>({results, windows, 1, s.stride[2] * cut.column, grad + p * cut.panel, width, c, cut.panel, N,
                        add ? c : nullptr, cut.panel, nullptr},
                       cut.depth, vectors);
  }
}

}  // namespace

bool fits_few_channels(const ConvShape& s) {
  return s.is_flat() && s.groups == 1 && s.channels <= 4 && s.dilation == Size3(1);
}

/// Measured on 37 shapes that it accepts, on Zen 5 with AVX-512 and limited to AVX2: 1.25 and 1.27 times oneDNN's
/// speed in the median, at least 0.95.
bool prefers_few_channels(const ConvShape& s) {
  return fits_few_channels(s) && s.out[2] >= 28 && s.filters >= 32 && s.filters % 16 == 0 &&
         s.stride[2] <= (s.kernel[2] + 1) / 2;
}

void few_channels_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                        const WeightStrides& strides) {
  const Cut cut(s);
  const int64_t block = cut.panels * cut.depth * cut.panel, pieces = s.out_lines() * cut.pieces;
  const double work = static_cast<double>(s.out_pixels()) * static_cast<double>(cut.depth * s.filters);
  const auto parts = std::clamp<int64_t>(static_cast<int64_t>(work / kLeastWork), 1, std::min(pieces, kMostParts));
  const Scratch<float> sums(checked_multiply(parts, block));  // (parts, panels, depth, panel)
  parallel_for(parts, 1, [&](int64_t part_begin, int64_t part_end) {
    Windows windows(s, cut, x);
    const GradientLines lines(s, cut, grad);
    for (int64_t part = part_begin; part < part_end; ++part)
      for (int64_t begin = pieces * part / parts, i = begin; i < pieces * (part + 1) / parts; ++i) {
        const Piece piece(s, cut, i);
        add_piece(s, cut, piece.count, windows.of(piece), lines.of(piece), lines.width(), i > begin,
                  sums.data() + part * block);
      }
  });
  parallel_for(block, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = begin; i < end; ++i) sums.data()[i] += sums.data()[part * block + i];
  });
  int64_t row = 0;
  for (int64_t b = 0; b < s.kernel[2]; ++b)
    for (int64_t a = 0; a < s.kernel[1]; ++a)
      for (int64_t c = 0; c < s.channels; ++c, ++row)
        for (int64_t o = 0; o < s.filters; ++o)
          grad_weight[o * strides[0] + c * strides[1] + a * strides[3] + b * strides[4]] =
              sums.data()[(o / cut.panel * cut.depth + row) * cut.panel + o % cut.panel];
}

}  // namespace weft::kernels::cpu
