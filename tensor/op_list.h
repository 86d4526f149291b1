// Every op of weft, one line each. The rule table, the set of ops that test cases must reach and the op codes are
// generated from this list: an op that is not here cannot be applied, one without a rule does not compile.
#pragma once

#include <cstdint>

// clang-format off
#define WEFT_OP_LIST(X) \
  /* fill */        X(Full) \
  /* copy */        X(Contiguous) X(Cast) X(Fill) X(CopyFrom) X(ViewAdjoint) X(Detach) \
  /* view */        X(Reshape) X(Expand) X(Permute) X(Squeeze) X(SqueezeAll) X(Unsqueeze) X(Slice) X(Select) X(Shrink) X(Flip) \
                    X(Pad) X(Unfold) X(Diagonal) X(AsStrided) \
  /* binary */      X(Add) X(Sub) X(Mul) X(Div) \
  /* scalar */      X(AddScalar) X(MulScalar) \
  /* unary */       X(Neg) X(Relu) X(Step) \
  /* reduce */      X(Sum) \
  /* matmul */      X(Matmul)
// clang-format on

namespace weft {

#define WEFT_OP_CODE(Op) Op,
enum class OpCode : uint16_t { WEFT_OP_LIST(WEFT_OP_CODE) kCount };
#undef WEFT_OP_CODE

inline constexpr int kOpCount = static_cast<int>(OpCode::kCount);

#define WEFT_OP_DECLARE(Op) struct Op;
namespace op {
WEFT_OP_LIST(WEFT_OP_DECLARE)
}
#undef WEFT_OP_DECLARE

namespace detail {
template <class Op>
struct OpCodeOf;  // incomplete: the op has no line in op_list.h
#define WEFT_OP_CODE_OF(Op) \
  template <>               \
  struct OpCodeOf<op::Op> { \
    static constexpr OpCode value = OpCode::Op; \
  };
WEFT_OP_LIST(WEFT_OP_CODE_OF)
#undef WEFT_OP_CODE_OF
}  // namespace detail

template <class Op>
inline constexpr OpCode op_code = detail::OpCodeOf<Op>::value;

}  // namespace weft
