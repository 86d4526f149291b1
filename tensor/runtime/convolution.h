// How convolutions are computed: a switch for those who need the rounding of plain sums of products.
#pragma once

#include <cstdint>

namespace weft {

/// `fastest`: by sizes alone, whatever is fastest. For 3 x 3 windows of stride 1 in f32 with 16 channels and more on
/// either side that is Winograd's minimal filtering F(4 x 4, 3 x 3), whose sums are others: the error of a result,
/// against exact arithmetic, is about twice that of `direct` in the mean (1e-6 of the results' root mean square at 64
/// channels, 2e-6 at 512), and at most (C + 32) 2^-24 C 563 max|x| max|weight|, where direct has 9 instead of 563.
/// Where a result is NaN or infinite, all of them are computed by `direct`, so that NaN and infinities reach the same.
/// `direct`: sums of the window's products, always. f64 and halves are computed so in either case.
enum class Convolution : uint8_t { fastest, direct };

/// For the convolutions of all threads, and for their gradients, from now on. The default is Convolution::fastest.
void set_convolution(Convolution way);
Convolution convolution();

}  // namespace weft
