#include "tests/tensor/view_operations.h"

#include "tensor/core/error.h"

namespace weft {
namespace {

using oracle::Cells;
using oracle::List;

/// An axis and the same axis as an argument, which counts from the end half of the time.
struct Axis {
  Axis(ViewRandom& random, int64_t rank)
      : at(static_cast<size_t>(random.in(0, rank - 1))),
        argument(static_cast<int64_t>(at) - (random.chance(50) ? rank : 0)) {}
  size_t at;
  int64_t argument;
};

std::optional<int64_t> maybe(ViewRandom& random, int64_t reach) {
  if (random.chance(25)) return std::nullopt;
  return random.in(-reach, reach);
}

std::string show(std::optional<int64_t> value) { return value ? std::to_string(*value) : "none"; }

std::optional<ViewStep> reshape(const View& view, const Cells& cells, ViewRandom& random) {
  List to = random.factors(oracle::product(cells.shape));
  if (random.chance(60)) {  // merge or split the shape it has: more often possible
    to = cells.shape;
    if (to.size() > 1 && random.chance(60)) {
      auto at = random.in(0, static_cast<int64_t>(to.size()) - 2);
      to[static_cast<size_t>(at)] *= to[static_cast<size_t>(at) + 1];
      to.erase(to.begin() + at + 1);
    }
    if (!to.empty() && to.size() < 6) {
      auto at = random.in(0, static_cast<int64_t>(to.size()) - 1);
      List parts = random.factors(to[static_cast<size_t>(at)]);
      to.erase(to.begin() + at);
      to.insert(to.begin() + at, parts.begin(), parts.end());
    }
    if (to.size() > kMaxAxes) return std::nullopt;
  }
  return ViewStep{view.reshape(to), oracle::reshape(cells, to), "reshape " + Shape(to).to_string()};
}

std::optional<ViewStep> expand(const View& view, const Cells& cells, ViewRandom& random) {
  List to = cells.rank() == 0 ? random.shape(random.in(0, 3), 3) : cells.shape;
  for (size_t i = 0; i < cells.shape.size(); ++i)
    if (to[i] == 1) to[i] = random.chance(5) ? 0 : random.in(1, 3);
  return ViewStep{view.expand(to), oracle::broadcast(cells, to), "expand " + Shape(to).to_string()};
}

std::optional<ViewStep> broadcast(const View& view, const Cells& cells, ViewRandom& random) {
  List to = cells.shape;
  if (to.size() > 5) return std::nullopt;
  for (int64_t& size : to)
    if (size == 1) size = random.in(1, 3);
  List lead = random.shape(random.in(0, 2), 2);
  to.insert(to.begin(), lead.begin(), lead.end());
  return ViewStep{view.broadcast(to), oracle::broadcast(cells, to), "broadcast " + Shape(to).to_string()};
}

std::optional<ViewStep> permute(const View& view, const Cells& cells, ViewRandom& random) {
  List axes = random.order(cells.rank());
  IntList argument(axes);
  for (int64_t& axis : argument)
    if (random.chance(30)) axis -= cells.rank();
  return ViewStep{view.permute(argument), oracle::permute(cells, axes), "permute " + argument.to_string()};
}

std::optional<ViewStep> transpose(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis a(random, cells.rank()), b(random, cells.rank());
  List axes;
  for (int64_t i = 0; i < cells.rank(); ++i) axes.push_back(i);
  std::swap(axes[a.at], axes[b.at]);
  return ViewStep{view.transpose(a.argument, b.argument), oracle::permute(cells, axes),
                  text("transpose ", a.argument, " ", b.argument)};
}

std::optional<ViewStep> movedim(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis from(random, cells.rank()), to(random, cells.rank());
  List axes;
  for (int64_t i = 0; i < cells.rank(); ++i) axes.push_back(i);
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(from.at));
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(to.at), static_cast<int64_t>(from.at));
  return ViewStep{view.movedim(from.argument, to.argument), oracle::permute(cells, axes),
                  text("movedim ", from.argument, " ", to.argument)};
}

std::optional<ViewStep> squeeze(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis axis(random, cells.rank());
  List to = cells.shape;
  if (to[axis.at] == 1) to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis.at));
  return ViewStep{view.squeeze(axis.argument), oracle::reshape(cells, to), text("squeeze ", axis.argument)};
}

std::optional<ViewStep> squeeze_all(const View& view, const Cells& cells, ViewRandom&) {
  List to;
  for (int64_t size : cells.shape)
    if (size != 1) to.push_back(size);
  return ViewStep{view.squeeze_all(), oracle::reshape(cells, to), "squeeze_all"};
}

std::optional<ViewStep> unsqueeze(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() > 6) return std::nullopt;
  Axis axis(random, cells.rank() + 1);
  List to = cells.shape;
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis.at), 1);
  return ViewStep{view.unsqueeze(axis.argument), oracle::reshape(cells, to), text("unsqueeze ", axis.argument)};
}

std::optional<ViewStep> slice(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis axis(random, cells.rank());
  int64_t size = cells.shape[axis.at];
  auto start = maybe(random, size + 2);
  auto end = maybe(random, size + 2);
  int64_t step = random.chance(40) ? 1 : random.in(1, 4) * (random.chance(50) ? 1 : -1);
  return ViewStep{view.slice(axis.argument, start, end, step),
                  oracle::pick(cells, axis.at, oracle::python_slice(size, start, end, step)),
                  text("slice ", axis.argument, " ", show(start), ":", show(end), ":", step)};
}

std::optional<ViewStep> select(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis axis(random, cells.rank());
  int64_t size = cells.shape[axis.at];
  if (size == 0) return std::nullopt;
  int64_t index = random.in(-size, size - 1);
  return ViewStep{view.select(axis.argument, index), oracle::select(cells, axis.at, index < 0 ? index + size : index),
                  text("select ", axis.argument, " ", index)};
}

std::optional<ViewStep> shrink(const View& view, const Cells& cells, ViewRandom& random) {
  std::vector<Interval> bounds;
  Cells expected = cells;
  std::string call = "shrink";
  for (size_t i = 0; i < cells.shape.size(); ++i) {
    int64_t size = cells.shape[i];
    int64_t begin = random.chance(50) ? 0 : random.in(0, size);
    int64_t end = random.chance(50) ? size : random.in(begin, size);
    bounds.push_back({begin, end});
    expected = oracle::pick(expected, i, oracle::python_slice(size, begin, end, 1));
    call += text(" ", begin, ":", end);
  }
  return ViewStep{view.shrink(bounds), expected, call};
}

std::optional<ViewStep> flip(const View& view, const Cells& cells, ViewRandom& random) {
  IntList axes;
  Cells expected = cells;
  for (int64_t i : random.order(cells.rank())) {
    if (random.chance(50)) continue;
    axes.push_back(random.chance(50) ? i : i - cells.rank());
    auto at = static_cast<size_t>(i);
    expected = oracle::pick(expected, at, oracle::python_slice(cells.shape[at], std::nullopt, std::nullopt, -1));
  }
  return ViewStep{view.flip(axes), expected, "flip " + axes.to_string()};
}

std::optional<ViewStep> pad(const View& view, const Cells& cells, ViewRandom& random) {
  std::vector<Padding> padding;
  Cells expected = cells;
  std::string call = "pad";
  for (size_t i = 0; i < cells.shape.size(); ++i) {
    int64_t before = random.chance(60) ? 0 : random.in(0, 2);
    int64_t after = random.chance(60) ? 0 : random.in(0, 2);
    padding.push_back({before, after});
    expected = oracle::pad(expected, i, before, after);
    call += text(" ", before, "+", after);
  }
  return ViewStep{view.pad(padding), expected, call};
}

std::optional<ViewStep> unfold(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0 || cells.rank() > 5) return std::nullopt;
  Axis axis(random, cells.rank());
  int64_t size = random.in(random.chance(5) ? 0 : std::min<int64_t>(1, cells.shape[axis.at]), cells.shape[axis.at]);
  int64_t step = random.in(1, 4);
  return ViewStep{view.unfold(axis.argument, size, step), oracle::unfold(cells, axis.at, size, step),
                  text("unfold ", axis.argument, " size ", size, " step ", step)};
}

std::optional<ViewStep> diagonal(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() < 2) return std::nullopt;
  Axis row(random, cells.rank()), column(random, cells.rank());
  if (row.at == column.at) return std::nullopt;
  int64_t offset = random.in(-3, 3);
  return ViewStep{view.diagonal(offset, row.argument, column.argument),
                  oracle::diagonal(cells, offset, row.at, column.at),
                  text("diagonal ", offset, " of ", row.argument, " ", column.argument)};
}

std::optional<ViewStep> flatten(const View& view, const Cells& cells, ViewRandom& random) {
  Axis start(random, std::max<int64_t>(cells.rank(), 1)), end(random, std::max<int64_t>(cells.rank(), 1));
  if (start.at > end.at) std::swap(start, end);
  List to = cells.shape;
  if (cells.rank() == 0) {
    to = {1};
  } else {
    int64_t merged = 1;
    for (size_t i = start.at; i <= end.at; ++i) merged *= to[i];
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(start.at), to.begin() + static_cast<std::ptrdiff_t>(end.at));
    to[start.at] = merged;
  }
  return ViewStep{view.flatten(start.argument, end.argument), oracle::reshape(cells, to),
                  text("flatten ", start.argument, " ", end.argument)};
}

std::optional<ViewStep> unflatten(const View& view, const Cells& cells, ViewRandom& random) {
  if (cells.rank() == 0) return std::nullopt;
  Axis axis(random, cells.rank());
  List sizes = random.factors(cells.shape[axis.at]);
  List to = cells.shape;
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis.at));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis.at), sizes.begin(), sizes.end());
  if (to.size() > 7) return std::nullopt;
  return ViewStep{view.unflatten(axis.argument, sizes), oracle::reshape(cells, to),
                  text("unflatten ", axis.argument, " ", Shape(sizes))};
}

/// Over the view itself where it is contiguous, which the start of a chain and every reshape of it are.
std::optional<ViewStep> as_strided(const View& view, const Cells& cells, ViewRandom& random) {
  if (!view.is_contiguous() || cells.cells.empty()) return std::nullopt;
  auto count = static_cast<int64_t>(cells.cells.size());
  int64_t offset = random.in(0, count - 1);
  int64_t lowest = offset, highest = offset;
  List shape, strides;
  for (int64_t rank = random.in(0, 4); rank > 0; --rank) {  // each axis as far as the elements before it leave room
    int64_t stride = random.in(-4, 9);
    int64_t room = stride < 0 ? lowest / -stride : stride > 0 ? (count - 1 - highest) / stride : 3;
    shape.push_back(random.chance(3) ? 0 : random.in(1, std::min<int64_t>(room, 4) + 1));
    strides.push_back(stride);
    int64_t reach = std::max<int64_t>(shape.back() - 1, 0) * stride;
    (reach < 0 ? lowest : highest) += reach;
  }
  return ViewStep{view.as_strided(shape, strides, offset), oracle::as_strided(cells, shape, strides, offset),
                  text("as_strided ", Shape(shape), " strides ", Strides(strides), " offset ", offset)};
}

}  // namespace

std::vector<ViewOperation> view_operations() {
  return {
      {"reshape", reshape, 4},
      {"expand", expand, 2},
      {"broadcast", broadcast, 1},
      {"permute", permute, 2},
      {"transpose", transpose, 2},
      {"movedim", movedim, 2},
      {"squeeze", squeeze, 2},
      {"squeeze_all", squeeze_all, 1},
      {"unsqueeze", unsqueeze, 2},
      {"slice", slice, 2},
      {"select", select, 1},
      {"shrink", shrink, 1},
      {"flip", flip, 2},
      {"pad", pad, 6},
      {"unfold", unfold, 2},
      {"diagonal", diagonal, 3},
      {"flatten", flatten, 2},
      {"unflatten", unflatten, 2},
      {"as_strided", as_strided, 1},
  };
}

}  // namespace weft
