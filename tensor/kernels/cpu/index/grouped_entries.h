// Entries of an index grouped by the row that they name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// Positions of the list grouped by row, in order: those of group g are order[starts[g]] to order[starts[g + 1] - 1].
/// Row v is group v, empty or not, unless `sparse`: then there is a group for each row that is listed.
struct GroupedEntries {
  GroupedEntries(std::span<const int64_t> rows, int64_t size, bool sparse)
      : count(sparse ? 0 : size), starts((sparse ? std::ssize(rows) : size) + 1), order(std::ssize(rows)) {
    sparse ? sort(rows) : distribute(rows);
  }
  void sort(std::span<const int64_t> rows) {
    const int64_t listed = std::ssize(rows);
    std::iota(order.data(), order.data() + listed, int64_t{0});
    const auto row = [&](int64_t i) { return rows[static_cast<size_t>(i)]; };
    std::stable_sort(order.data(), order.data() + listed, [&](int64_t a, int64_t b) { return row(a) < row(b); });
    for (int64_t k = 0; k < listed; ++k)
      if (k == 0 || row(order.data()[k]) != row(order.data()[k - 1])) starts.data()[count++] = k;
    starts.data()[count] = listed;
  }
  void distribute(std::span<const int64_t> rows) {
    int64_t* s = starts.data();
    std::fill_n(s, count + 1, int64_t{0});
    for (const int64_t row : rows) ++s[row];
    int64_t total = 0;
    for (int64_t v = 0; v <= count; ++v) {
      const int64_t members = v < count ? s[v] : 0;
      s[v] = total;
      total += members;
    }
    for (size_t i = 0; i < rows.size(); ++i) order.data()[s[rows[i]]++] = static_cast<int64_t>(i);
    for (int64_t v = count; v > 0; --v) s[v] = s[v - 1];  // each start has moved to the next one's
    s[0] = 0;
  }
  int64_t count;
  Scratch<int64_t> starts;
  Scratch<int64_t> order;
};

}  // namespace weft::kernels::cpu
