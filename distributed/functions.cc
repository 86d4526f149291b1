#include "distributed/functions.h"

#include "autograd/function.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

template <> inline constexpr bool weft::autograd::holds_no_tensors<weft::distributed::Group> = true;

namespace weft::distributed {
namespace {

using autograd::Context;

constexpr const char* kGroup = "group";
constexpr const char* kOp = "op";
constexpr const char* kRoot = "root";

const Group& group_of(const Context& context) { return context.get<Group>(kGroup); }

void keep(Context& context, const Group& group, ReduceOp op) {
  context[kGroup] = group;
  context[kOp] = op;
}

struct AllReduce : autograd::Function<AllReduce> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, ReduceOp op) {
    keep(context, group, op);
    Tensor y = clone(x);
    group.all_reduce(y, op);
    return y;
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {all_reduce(gradient, group_of(context), context.get<ReduceOp>(kOp))};
  }
};

struct Broadcast : autograd::Function<Broadcast> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, int64_t root) {
    keep(context, group, ReduceOp::sum);
    context[kRoot] = root;
    Tensor y = clone(x);
    group.broadcast(y, root);
    return y;
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    const Group& group = group_of(context);
    const Tensor sum = all_reduce(gradient, group);
    // Zeros with a history, so that every rank or none runs backward through this too.
    const bool is_root = group.rank() == context.get<int64_t>(kRoot);
    return {is_root ? sum : where(zeros({}, boolean), sum, 0.0)};
  }
};

struct AllGather : autograd::Function<AllGather> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group) {
    keep(context, group, ReduceOp::sum);
    return group.all_gather(x);
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {reduce_scatter(gradient, group_of(context)).squeeze(0)};
  }
};

struct ReduceScatter : autograd::Function<ReduceScatter> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, ReduceOp op) {
    keep(context, group, op);
    return group.reduce_scatter(x, op);
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    const Group& group = group_of(context);
    Tensor all = all_gather(gradient, group);
    if (context.get<ReduceOp>(kOp) == ReduceOp::mean) all = all / static_cast<double>(group.size());
    return {all.flatten(0, 1)};
  }
};

struct AllToAll : autograd::Function<AllToAll> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group) {
    keep(context, group, ReduceOp::sum);
    return group.all_to_all(x);
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {all_to_all(gradient, group_of(context))};
  }
};

void check_differentiable(ReduceOp op, const char* name) {
  if (op == ReduceOp::max || op == ReduceOp::min)
    throw GradientError(
        text(name, ": ", name_of(op), " over ranks has no gradient here; use Group::", name, " on a detached tensor"));
}

}  // namespace

Tensor all_reduce(const Tensor& x, const Group& group, ReduceOp op) {
  check_differentiable(op, "all_reduce");
  return AllReduce::apply(x, group, op);
}

Tensor broadcast(const Tensor& x, const Group& group, int64_t root) { return Broadcast::apply(x, group, root); }

Tensor all_gather(const Tensor& x, const Group& group) { return AllGather::apply(x, group); }

Tensor reduce_scatter(const Tensor& x, const Group& group, ReduceOp op) {
  check_differentiable(op, "reduce_scatter");
  return ReduceScatter::apply(x, group, op);
}

Tensor all_to_all(const Tensor& x, const Group& group) { return AllToAll::apply(x, group); }

}  // namespace weft::distributed
