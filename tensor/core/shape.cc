// The parts of shapes that need checks, text or the heap.
#include "tensor/core/shape.h"

#include <ostream>

#include "tensor/core/error.h"

namespace weft {

void IntList::grow(size_t count) {
  size_t capacity = count < 2 * static_cast<size_t>(capacity_) ? 2 * static_cast<size_t>(capacity_) : count;
  int64_t* values = new int64_t[capacity];
  for (size_t i = 0; i < size_; ++i) values[i] = data()[i];
  if (is_heap()) delete[] heap_;
  heap_ = values;
  capacity_ = static_cast<uint32_t>(capacity);
}

void IntList::throw_no_position(int64_t i) const {
  throw IndexError(text("position ", i, " is out of range for the ", rank(), " numbers of ", *this));
}

std::ostream& operator<<(std::ostream& out, const IntList& list) { return out << list.to_string(); }

std::string IntList::to_string() const {
  std::string out = "[";
  for (size_t i = 0; i < size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string((*this)[i]);
  }
  return out += ']';
}

void detail::throw_overflow(int64_t a, char operation, int64_t b) {
  throw ShapeError(text(a, " ", operation, " ", b, " does not fit into 64 bits"));
}

int64_t checked_numel(const Shape& shape) {
  // Zeros are left out of the checked product, so that the order of the sizes decides nothing and strides fit as well.
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0) throw ShapeError(text("negative size ", size, " in ", shape));
    empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(product, size, &product))
      throw ShapeError(text("the number of elements of ", shape, " does not fit into 64 bits"));
  }
  return empty ? 0 : product;
}

void detail::throw_axis(int64_t axis, int64_t rank) {
  throw IndexError(text("axis ", axis, " is out of range for ", rank, rank == 1 ? " axis" : " axes"));
}

Strides row_major_strides(const Shape& shape) {
  Strides strides(shape);
  int64_t* values = strides.data();
  int64_t step = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    const int64_t size = values[i];
    values[i] = step;
    step *= size > 0 ? size : 1;
  }
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out(longer);
  size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t x = longer[lead + i];
    int64_t y = shorter[i];
    if (x != y && x != 1 && y != 1)
      throw ShapeError(text("shapes ", a, " and ", b, " do not broadcast: ", a[a.size() - shorter.size() + i], " and ",
                            b[b.size() - shorter.size() + i], " on axis ", static_cast<int64_t>(i) - shorter.rank()));
    out[lead + i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace weft
