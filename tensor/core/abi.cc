#include "tensor/core/abi.h"

namespace weft::internal {

const char WEFT_LIBRARY_ABI = 0;

}  // namespace weft::internal
