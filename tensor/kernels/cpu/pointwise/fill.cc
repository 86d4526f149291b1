#include "tensor/kernels/cpu/pointwise/fill.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/fill.h"

namespace weft::kernels::cpu {
namespace {

template <class T>
void fill_rows(const void* value, char* const* p, const int64_t* step, const int64_t* row_step, int64_t columns,
               int64_t rows) {
  const T bits = *static_cast<const T*>(value);
  const int64_t stride = step[0] / static_cast<int64_t>(sizeof(T));
  for (int64_t row = 0; row < rows; ++row) {
    T* out = reinterpret_cast<T*>(p[0] + row * row_step[0]);
    if (stride == 1)
      std::fill_n(out, columns, bits);
    else
      for (int64_t i = 0; i < columns; ++i) out[i * stride] = bits;
  }
}

// out[i] = f(i) for a 1-D operand.
template <class F> void fill_by_index(const Operand& out, const F& f) {
  visit_dtype(out.dtype, [&]<class T>() {
    T* data = out.data<T>();
    const int64_t stride = out.stride(0);
    parallel_for(out.numel(), kMathGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) data[i * stride] = convert<T>(f(i));
    });
  });
}

}  // namespace

void fill(const Operand& out, const Scalar& value) {
  visit_dtype(out.dtype, [&]<class T>() {
    using Bits = WordOf<T>;
    const Bits bits = std::bit_cast<Bits>(scalar_as<T>(value));
    if (out.view->is_contiguous()) {
      Bits* data = out.data<Bits>();
      return parallel_for(out.numel(), kCheapGrain,
                          [&](int64_t begin, int64_t end) { std::fill(data + begin, data + end, bits); });
    }
    strided_loop(&out, 1, kCheapGrain, &fill_rows<Bits>, &bits);
  });
}

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Full::cpu(const Operand& out) const { fill(out, value); }

void op::Arange::cpu(const Operand& out) const {
  if (!start.is_floating() && !step.is_floating()) {
    const uint64_t first = static_cast<uint64_t>(start.to_int()), by = static_cast<uint64_t>(step.to_int());
    return fill_by_index(out, [=](int64_t i) { return static_cast<int64_t>(first + by * static_cast<uint64_t>(i)); });
  }
  const double first = start.to_double(), by = step.to_double();
  fill_by_index(out, [=](int64_t i) { return first + by * static_cast<double>(i); });
}

void op::Linspace::cpu(const Operand& out) const {
  const int64_t last = out.numel() - 1;
  const double span = end - start, parts = static_cast<double>(std::max<int64_t>(last, 1));
  const double by = last == 0 ? 0.0 : std::isfinite(span) ? span / parts : end / parts - start / parts;
  fill_by_index(
      out, [last, by, first = start, until = end](int64_t i) {  // from the nearer end, so that both are met exactly
        return i <= last / 2 ? first + by * static_cast<double>(i) : until - by * static_cast<double>(last - i);
      });
}

void op::Eye::cpu(const Operand& out) const {
  fill(out, 0);
  const int64_t size = std::min(out.size(0), out.size(1));
  if (size == 0) return;
  const View diagonal = View::create({size}, {out.stride(0) + out.stride(1)}, out.view->offset());
  fill(out.with(diagonal), 1);
}

}  // namespace weft
