#include "tensor/dispatch/op_list.h"

#include "tensor/dispatch/op_info.h"

namespace weft {
namespace {

#define WEFT_OP_CODE(Op) k##Op,
enum : OpCode { WEFT_OP_LIST(WEFT_OP_CODE) };
#undef WEFT_OP_CODE

}  // namespace

#define WEFT_OP_CODE_OF(Op) template <> const OpCode OpCodeOf<op::Op>::value = k##Op;
WEFT_OP_LIST(WEFT_OP_CODE_OF)
#undef WEFT_OP_CODE_OF

}  // namespace weft
