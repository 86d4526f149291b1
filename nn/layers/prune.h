// prune(): layers whose weight has a mask, and functions that make the usual masks: 1 where an element of the weight is
// kept, 0 where it is removed. As in torch.nn.utils.prune, the amount that a mask removes is a fraction in [0, 1],
// rounded to whole elements or slices, or an integer, their number.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/layers/parametrize.h"
#include "tensor/core/scalar.h"

namespace weft::nn {

/// Removes the elements with the smallest absolute values (l1_unstructured). The mask has the weight's shape and dtype
/// and is on its device, here and below. Error for an amount that is negative or more than there is. Of equal values,
/// the first are removed.
Tensor l1_mask(const Tensor& weight, const Scalar& amount);
/// Removes elements at random (random_unstructured), drawn from the default generator.
Tensor random_mask(const Tensor& weight, const Scalar& amount);
/// Removes the slices along `axis` with the smallest norm of order n (ln_structured). IndexError for an axis out of
/// range.
Tensor ln_structured_mask(const Tensor& weight, const Scalar& amount, double n, int64_t axis);
/// Removes slices along `axis` at random (random_structured).
Tensor random_structured_mask(const Tensor& weight, const Scalar& amount, int64_t axis);
/// l1_mask() of several weights together, a mask for each: the smallest of all are removed (global_unstructured).
std::vector<Tensor> global_l1_masks(const std::vector<Tensor>& weights, const Scalar& amount);

namespace detail {
/// A copy of `mask` in the dtype and on the device of `weight`: 1 where it is not 0. ShapeError unless it has its
/// shape.
Tensor mask_of(const Tensor& mask, const Tensor& weight);
Tensor masked(const Tensor& weight, const Tensor& mask);
}  // namespace detail

struct PruneOptions {
  std::string name = "weight";
};

/// M with a weight original * mask: elements where the mask is 0 stay 0 and have no gradient. parametrizations.NAME.
/// original is trained; the mask is the buffer parametrizations.NAME.0.mask. See prune().
template <Parametrizable M> class Pruned : public Parametrized<Pruned<M>, M> {
 public:
  struct Options : PruneOptions {
    Tensor mask;
  };
  Pruned(M module, const Options& options) : Parametrized<Pruned, M>(std::move(module)), options_(options) {
    ErrorFrame frame("prune", options.mask);
    detail::Parametrization made(*this, options.name, "Mask");
    original_ = made.add_parameter("original", made.initial());
    mask_ = options_.mask = detail::mask_of(options.mask, original_);
    made.add_buffers({{"mask", mask_}});
  }
  const std::string& name() const { return options_.name; }
  const Options& options() const { return options_; }
  /// 1 where an element is kept, else 0, in the weight's dtype. Write to it to prune more: `layer.mask().mul_(more)`.
  Tensor mask() const { return mask_; }
  /// The weight that a call uses.
  Tensor computed() const { return detail::masked(original_, mask_); }
  Tensor current() const { return computed(); }

 private:
  Options options_;
  Tensor original_, mask_;
};

/// Prunes a layer's weight by a mask of its shape, 0 where an element is removed:
///   const Tensor mask = nn::l1_mask(fc.weight(), 0.3);
///   auto layer = nn::prune(std::move(fc), mask);
///   nn::Linear zeroed = layer.plain();  // for good, as prune.remove() of PyTorch does it
/// ShapeError for a mask of another shape. Do not convert the result to an M, which would use the whole weight.
template <Parametrizable M> Pruned<M> prune(M module, const Tensor& mask, const PruneOptions& options = {}) {
  return Pruned<M>(std::move(module), {options, mask});
}

}  // namespace weft::nn
