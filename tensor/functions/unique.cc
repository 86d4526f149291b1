#include "tensor/functions/unique.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

/// The runs of equals among `values` (n), whose places in x are `order` (their own where undefined).
UniqueResult runs_of(const Tensor& x, const Tensor& values, const Tensor& order, const UniqueOptions& options) {
  const int64_t n = values.size(0);
  if (n == 0) {
    const Tensor none = zeros({0}, i64, x.device());
    return {values, options.inverse ? reshape(none, x.shape()) : Tensor(), options.counts ? none : Tensor()};
  }
  const Tensor plain = detach(values);
  const Tensor begins = cat({zeros({1}, boolean, x.device()), slice(plain, 0, 1) != slice(plain, 0, 0, -1)});
  const Tensor run = cumsum(begins, 0);
  const Shape found = {run[n - 1].item<int64_t>() + 1};
  const Tensor counts = scatter_add(ones_like(run), 0, run, found);
  UniqueResult out;
  out.values = index_select(values, 0, cumsum(counts, 0) - counts);
  if (options.counts) out.counts = counts;
  if (options.inverse) out.inverse = reshape(order.defined() ? scatter_add(run, 0, order, {n}) : run, x.shape());
  return out;
}

}  // namespace

UniqueResult unique(const Tensor& x, const UniqueOptions& options) {
  Frame frame("unique", x);
  const auto [values, order] = sort(reshape(x, {x.numel()}), 0);
  return runs_of(x, values, order, options);
}

UniqueResult unique_consecutive(const Tensor& x, const UniqueOptions& options) {
  Frame frame("unique_consecutive", x);
  return runs_of(x, reshape(x, {x.numel()}), Tensor(), options);
}

}  // namespace weft
