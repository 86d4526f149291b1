#include "tensor/dispatch/any_op.h"

namespace weft {

std::string AnyOp::to_string() const { return std::string(name()) + "(" + info_->attributes(get()) + ")"; }

}  // namespace weft
