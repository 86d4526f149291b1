#include "distributed/functions.h"

#include <numeric>

#include "autograd/function.h"
#include "distributed/rows.h"
#include "tensor/functions/binary.h"
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
constexpr const char* kBegin = "begin";
constexpr const char* kCount = "count";

const Group& group_of(const Context& context) { return context.get<Group>(kGroup); }

void keep(Context& context, const Group& group, ReduceOp op) {
  context[kGroup] = group;
  context[kOp] = op;
}

void keep(Context& context, const Group& group, ReduceOp op, int64_t root) {
  keep(context, group, op);
  context[kRoot] = root;
}

int64_t root_of(const Context& context) { return context.get<int64_t>(kRoot); }

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
    keep(context, group, ReduceOp::sum, root);
    Tensor y = clone(x);
    group.broadcast(y, root);
    return y;
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {reduce(gradient, group_of(context), root_of(context))};
  }
};

struct Reduce : autograd::Function<Reduce> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, int64_t root, ReduceOp op) {
    keep(context, group, op, root);
    Tensor y = clone(x);
    group.reduce(y, root, op);
    return group.rank() == root ? y : y.zero_();
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    const Group& group = group_of(context);
    const Tensor sent = broadcast(gradient, group, root_of(context));
    return {context.get<ReduceOp>(kOp) == ReduceOp::mean ? sent / static_cast<double>(group.size()) : sent};
  }
};

struct Gather : autograd::Function<Gather> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, int64_t root) {
    keep(context, group, ReduceOp::sum, root);
    const Tensor y = group.gather(x, root);
    if (y.defined()) return y;
    Shape shape = {group.size()};
    for (const int64_t n : x.shape()) shape.push_back(n);
    return zeros(shape, x.dtype(), x.device());
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {scatter(gradient, group_of(context), root_of(context)).squeeze(0)};
  }
};

struct Scatter : autograd::Function<Scatter> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group, int64_t root) {
    keep(context, group, ReduceOp::sum, root);
    return group.scatter(x, root);
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    return {gather(gradient, group_of(context), root_of(context)).flatten(0, 1)};
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

struct AllGatherRows : autograd::Function<AllGatherRows> {
  static Tensor forward(Context& context, const Tensor& x, const Group& group) {
    keep(context, group, ReduceOp::sum);
    const std::vector<int64_t> rows = rows_of_ranks(group, x);
    context[kBegin] = std::accumulate(rows.begin(), rows.begin() + group.rank(), int64_t{0});
    context[kCount] = x.size(0);
    return gather_rows(group, x, rows);
  }
  static std::vector<Tensor> backward(Context& context, const Tensor& gradient) {
    const Tensor sum = all_reduce(gradient, group_of(context));
    return {sum.narrow(0, context.get<int64_t>(kBegin), context.get<int64_t>(kCount))};
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

Tensor reduce(const Tensor& x, const Group& group, int64_t root, ReduceOp op) {
  check_differentiable(op, "reduce");
  return Reduce::apply(x, group, root, op);
}

Tensor gather(const Tensor& x, const Group& group, int64_t root) { return Gather::apply(x, group, root); }

Tensor scatter(const Tensor& x, const Group& group, int64_t root) { return Scatter::apply(x, group, root); }

Tensor all_gather_rows(const Tensor& x, const Group& group) {
  ErrorFrame frame("all_gather_rows", x);
  return AllGatherRows::apply(x, group);
}

}  // namespace weft::distributed
