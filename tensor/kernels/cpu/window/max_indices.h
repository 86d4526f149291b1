// The indices of maxima: u8, or i32 of windows of more than 255 elements.
#pragma once

#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {

/// The index of a window that is all padding, as the loops compute it. As u8 it is the largest, too.
inline constexpr int32_t kPaddingAlone = kNoIndex<int32_t>;
static_assert(static_cast<uint8_t>(kPaddingAlone) == kNoIndex<uint8_t>);

/// One image of indices, or none, where they are not wanted.
class IndexImage {
 public:
  IndexImage() = default;
  IndexImage(const Operand& indices, int64_t n) {
    if (!indices.defined()) return;
    if (indices.dtype == DType::u8)
      bytes_ = Image<uint8_t>(indices, n);
    else
      words_ = Image<int32_t>(indices, n);
  }
  IndexImage(const ChannelsLastRows& rows, DType dtype) {
    if (dtype == DType::u8)
      bytes_ = rows.as<uint8_t>();
    else
      words_ = rows.as<int32_t>();
  }
  /// f(the image), an Image of uint8_t or of int32_t.
  template <class F> void visit(const F& f) const { bytes_.data != nullptr ? f(bytes_) : f(words_); }

 private:
  Image<uint8_t> bytes_ = {};
  Image<int32_t> words_ = {};
};

/// f.operator()<Index>() with the type of indices.
template <class F> void visit_index_type(DType dtype, const F& f) {
  if (dtype == DType::u8) return f.template operator()<uint8_t>();
  if (dtype == DType::i32) return f.template operator()<int32_t>();
  throw DtypeError(text("indices of max_pool2d are u8 or i32, not ", dtype));
}

/// f.operator()<S, kIndices>() with the type of the values and whether indices are wanted.
template <class F> void visit_maxima(const Operand& out, const Operand& indices, const F& f) {
  visit_floating(out.dtype, [&]<class S>() {
    indices.defined() ? f.template operator()<S, true>() : f.template operator()<S, false>();
  });
}

}  // namespace weft::kernels::cpu
