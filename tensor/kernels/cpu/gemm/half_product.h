// What the products of matrices in 16 bits share: how they are cut into parts for threads, passes and panels.
#pragma once

#include <algorithm>
#include <span>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/gemm/product_parts.h"
#include "tensor/kernels/cpu/gemm/tile_table.h"

namespace weft::kernels::cpu {

/// c = a b + bias, or c += it, of matrices in 16 bits.
template <class H, class Out> struct HalfProduct {
  Matrix<const H> a, b;
  Matrix<Out> c;
  bool accumulate;
  const Out* bias;

  HalfProduct block(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {a.block(i, 0, rows, a.columns), b.block(0, j, b.rows, columns), c.block(i, j, rows, columns), accumulate,
            bias == nullptr ? nullptr : bias + j};
  }
};

/// How a product is cut: by the sizes of all of it, so that the bits of a sum do not depend on the thread count.
struct HalfCut {
  int64_t depth;         // of a pass, elements along the sum: whole words
  int64_t panel, group;  // columns of b: of a tile, and of those that stay in the L2 cache
  int64_t rows;          // of a tile

  /// b is packed in words of `word` elements. tile_rows[v]: the most rows of a tile with v + 1 registers of `lanes`
  /// columns.
  HalfCut(int64_t k, int64_t columns, int64_t word, int64_t lanes, std::span<const int> tile_rows) {
    constexpr int64_t kGroupWords = 1 << 17, kMostDepth = 1024;  // words of a group, and of a sum in one pass
    const int64_t words = ceil_div(k, word), pass_words = ceil_div(words, ceil_div(words, kMostDepth));
    const int64_t vectors = ceil_div(columns, lanes);
    const int64_t width = ceil_div(vectors, ceil_div(vectors, std::ssize(tile_rows)));
    depth = word * pass_words;
    panel = width * lanes;
    group = std::max<int64_t>(1, kGroupWords / (pass_words * panel)) * panel;
    rows = tile_rows[static_cast<size_t>(width - 1)];
  }
};

/// Elements [k, k + depth) of the sums of columns [j, j + columns).
struct HalfPass {
  int64_t k, depth, j, columns;
};

/// f(pass), those of a group of columns one after the other.
template <class H, class Out, class F>
void for_passes(const HalfProduct<H, Out>& product, const HalfCut& cut, const F& f) {
  const int64_t all = product.b.columns, depth = product.a.columns;
  for (int64_t j = 0; j < all; j += cut.group)
    for (int64_t k = 0; k < depth; k += cut.depth)
      f(HalfPass{k, std::min(cut.depth, depth - k), j, std::min(cut.group, all - j)});
}

/// f(first row, rows, first column of the pass) for the tiles of `rows` rows.
template <class F> void for_tiles(const HalfPass& pass, const HalfCut& cut, int64_t rows, const F& f) {
  const Strips strips(rows, cut.rows);
  for (int64_t s = 0; s < strips.count; ++s)
    for (int64_t j = 0; j < pass.columns; j += cut.panel) f(strips.first(s), strips.rows(s), j);
}

/// f(block of the product), for each thread's.
template <class H, class Out, class F>
void for_blocks(const HalfProduct<H, Out>& product, const HalfCut& cut, const F& f) {
  for_product_parts(
      product.a.rows, product.b.columns, cut.rows, cut.panel, product_threads(product.a, product.b),
      [&](int64_t i, int64_t j, int64_t rows, int64_t columns) { f(product.block(i, j, rows, columns)); });
}

}  // namespace weft::kernels::cpu
