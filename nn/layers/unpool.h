// Layers for max_unpool1d() to max_unpool3d().
#pragma once

#include "nn/layers/pool.h"
#include "tensor/functions/max_unpool.h"

namespace weft::nn {

/// Defines a layer called as unpool(x, indices) or unpool(x, indices, size). It puts the values back at the positions
/// where max_pool..._with_indices() found them; all other elements are 0.
#define WEFT_UNPOOL_LAYER(Name, function, Sizes)                                                   \
  class Name : public Module {                                                                     \
   public:                                                                                         \
    explicit Name(const PoolOptionsOf<Sizes>& options);                                            \
    explicit Name(int64_t kernel_size) : Name(PoolOptionsOf<Sizes>{.kernel_size = kernel_size}) {} \
    explicit Name(const Sizes&) = delete; /* as in the pooling layers */                           \
    Tensor forward(const Tensor& x, const Tensor& indices, const Shape& size = {}) const {         \
      return function(x, indices, options_, size);                                                 \
    }                                                                                              \
    Name remake() const { return Name(options_); }                                                 \
    Tensor operator()(const Tensor& x, const Tensor& indices, const Shape& size = {}) const {      \
      const auto call = [&](const Tensor& a, const Tensor& b) { return forward(a, b, size); };     \
      return in_layer(*this, call, x, indices);                                                    \
    }                                                                                              \
                                                                                                   \
   private:                                                                                        \
    PoolOptionsOf<Sizes> options_;                                                                 \
  }

/// See max_unpool1d().
WEFT_UNPOOL_LAYER(MaxUnpool1d, max_unpool1d, Size1);
/// See max_unpool2d().
WEFT_UNPOOL_LAYER(MaxUnpool2d, max_unpool2d, Size2);
/// See max_unpool3d().
WEFT_UNPOOL_LAYER(MaxUnpool3d, max_unpool3d, Size3);
#undef WEFT_UNPOOL_LAYER

}  // namespace weft::nn
