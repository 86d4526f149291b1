#include "tests/reference/index.h"

namespace weft::testing::reference {

namespace {
int64_t whole(double value) { return static_cast<int64_t>(value); }
}  // namespace

IndexMap each_named(const Array& indices, size_t axis) {
  return [=](Index at) {
    at[axis] = whole(indices.at(at));
    return at;
  };
}

IndexMap slice_named(const Array& indices, size_t axis) {
  return [=](Index at) {
    at[axis] = whole(indices.at({at[axis]}));
    return at;
  };
}

IndexMap row_named(const Array& indices) {
  return [=](Index at) {
    const int64_t column = at.back();
    at.pop_back();
    return Index{whole(indices.at(at)), column};
  };
}

int64_t place(const Array& indices, const Index& index, int64_t size) {
  const int64_t i = whole(indices.at(index));
  return i < 0 ? i + size : i;
}

Array gathered(const Array& x, const Shape& shape, const IndexMap& map) {
  return build(shape, [&](const Index& i) { return x.at(map(i)); });
}

Array scattered(const Array& source, const Shape& shape, const IndexMap& map) {
  Array out = zeros(shape);
  size_t from = 0;
  for (const Index& i : indices_of(source.shape)) {
    const Index to = map(i);
    if (!to.empty()) out.at(to) += source.values[from];
    ++from;
  }
  return out;
}

}  // namespace weft::testing::reference
