// How weft's own products are shared out among threads: blocks of c.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Parts for `threads` threads of so many strips and panels: so many down and across that the largest has the least to
/// do.
inline std::pair<int64_t, int64_t> product_parts(int64_t strips, int64_t panels, int64_t threads) {
  std::pair<int64_t, int64_t> best{1, 1};
  double least = 1e300;
  for (int64_t down = 1; down <= threads; ++down) {
    const int64_t across = threads / down;
    const auto rows = static_cast<double>(ceil_div(strips, down)),
               columns = static_cast<double>(ceil_div(panels, across));
    const double cost = rows * columns + (rows + columns) / 2;  // packing a strip or a panel takes half a tile's time
    if (cost < least) least = cost, best = {down, across};
  }
  return best;
}

/// work(i, j, rows, columns) for disjoint blocks of c, one for each of `threads` threads, cut between strips of
/// `strip` rows and panels of `panel` columns.
template <class Work>
void for_product_parts(int64_t rows, int64_t columns, int64_t strip, int64_t panel, int threads, Work&& work) {
  if (threads == 1) return work(int64_t{0}, int64_t{0}, rows, columns);
  // A row alone goes with the strip before it: sgemm would sum it in one chain, with forty times the error.
  const int64_t strips = ceil_div(rows, strip) - (rows > strip && rows % strip == 1 ? 1 : 0);
  const int64_t panels = ceil_div(columns, panel);
  const auto [down, across] = product_parts(strips, panels, threads);
  parallel_for(down * across, 1, [&, down = down, across = across](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const auto edge = [](int64_t units, int64_t part, int64_t count, int64_t size, int64_t limit) {
        return part == count ? limit : std::min(units * part / count * size, limit);
      };
      const int64_t d = at / across, e = at % across;
      const int64_t top = edge(strips, d, down, strip, rows), bottom = edge(strips, d + 1, down, strip, rows);
      const int64_t left = edge(panels, e, across, panel, columns), right = edge(panels, e + 1, across, panel, columns);
      if (top < bottom && left < right) work(top, left, bottom - top, right - left);
    }
  });
}

}  // namespace weft::kernels::cpu
