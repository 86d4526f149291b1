#include "tensor/kernels/cpu/rowwise/scan_lines.h"

#include <optional>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
void LineBatch::Side::fill(const Lines& lines, int64_t line, int64_t count) {
  step = lines.step;
  if (count == 1) {  // a small tensor's line, where the loops below would be felt
    first[0] = lines.at(line);
    return;
  }
  const NestAxis& neighbors = lines.neighbors();
  const int64_t distance = neighbors.in * lines.size;
  for (int64_t k = 0; k < count;) {
    const int64_t left = count - k, run = lines.is_even() ? left : neighbors.size - (line + k) % neighbors.size;
    char* at = lines.at(line + k);
    for (const int64_t end = k + std::min(run, left); k < end; ++k, at += distance) first[k] = at;
  }
}

void scan_in_tiles(const ScanLoops& loops, int64_t length, const ScanLines& lines, int64_t interleaved) {
  constexpr int64_t kTile = 2048;  // elements: a tile of each operand stays in the L2 cache
  const int64_t run = interleaved * length, runs = lines.out.count() / interleaved;
  const int64_t width = std::min(std::max<int64_t>(16, kTile / run / 16 * 16), kScanLines / interleaved);
  const int64_t tile_bytes = width * run * lines.x.size;
  parallel_for(ceil_div(runs, width), std::max<int64_t>(1, 32768 / (width * run)), [&](int64_t tile, int64_t end) {
    const Scratch<char> values(lines.inputs() * tile_bytes), results(width * run * lines.out.size);
    const Scratch<int64_t> places(lines.positions != nullptr ? width * run : 0);
    for (; tile < end; ++tile) {
      const int64_t line = tile * width * interleaved, some = std::min(width, runs - tile * width);
      const int64_t count = some * interleaved;
      Band band{length, count, results.data(), places.data(), {}, count, count, {}};
      for (int k = 0; k < lines.inputs(); ++k) {
        const Lines& x = lines.in(k);
        char* to = values.data() + k * tile_bytes;
        to_columns(x.size, x.at(line), x.distance(interleaved), interleaved == 1 ? x.step : 1, to, some, some, run);
        band.in[k] = to, band.in_steps[k] = count;
      }
      loops.band(band);
      const auto put = [&](const Lines& to, const void* from) {
        to_columns(to.size, from, some, 1, to.at(line), to.distance(interleaved), run, some);
      };
      put(lines.out, results.data());
      if (lines.positions != nullptr) put(*lines.positions, places.data());
    }
  });
}

void scan_neighbors(const ScanLoops& loops, int64_t length, const ScanLines& lines) {
  const Lines& out = lines.out;
  const int64_t size = out.neighbors().size, width = std::min(size, kScanLines);
  const int64_t groups = ceil_div(size, width), bands = out.count() / size;
  parallel_for(bands * groups, std::max<int64_t>(1, 32768 / (width * length)), [&](int64_t g, int64_t end) {
    for (; g < end; ++g) {
      const int64_t skipped = g % groups * width, line = g / groups * size + skipped;
      Band band{length,
                std::min(width, size - skipped),
                out.at(line),
                lines.positions_at(line),
                {},
                out.step,
                lines.positions != nullptr ? lines.positions->step : 0,
                {}};
      for (int k = 0; k < lines.inputs(); ++k) band.in[k] = lines.in(k).at(line), band.in_steps[k] = lines.in(k).step;
      loops.band(band);
    }
  });
}

void scan_in_batches(const ScanLoops& loops, int64_t length, const ScanLines& lines) {
  parallel_for(lines.out.count(), std::max<int64_t>(4, row_grain(length)), [&](int64_t line, int64_t end) {
    LineBatch batch;
    batch.length = length;
    for (; line < end; line += batch.count) {
      batch.count = std::min(LineBatch::kMost, end - line);
      batch.out.fill(lines.out, line, batch.count);
      if (lines.positions != nullptr) batch.positions.fill(*lines.positions, line, batch.count);
      for (int k = 0; k < lines.inputs(); ++k) batch.in[k].fill(lines.in(k), line, batch.count);
      loops.batch(batch);
    }
  });
}

void scan_each_line(const ScanLoops& loops, int64_t length, const ScanLines& lines) {
  const int64_t count = lines.out.count();
  const bool one_by_one = length >= 8 * kScanBlock && count < region_threads();
  parallel_for(count, one_by_one ? count : row_grain(length), [&](int64_t begin, int64_t end) {
    AnyRowReader x(lines.x, begin, end, lines.x.element);
    AnyRowWriter out(lines.out, begin, end, lines.out.element);
    std::optional<AnyRowReader> y;
    std::optional<AnyRowWriter> positions;
    if (lines.y != nullptr) y.emplace(*lines.y, begin, end, lines.y->element);
    if (lines.positions != nullptr) positions.emplace(*lines.positions, begin, end, lines.positions->element);
    for (; begin < end; ++begin) {
      void* const in[] = {x.row(), y ? y->row() : nullptr};
      loops.line(length, out.row(), positions ? static_cast<int64_t*>(positions->row()) : nullptr, in);
      x.next();
      out.next();
      if (y) y->next();
      if (positions) positions->next();
    }
  });
}

}  // namespace weft::kernels::cpu
