#include "autograd/placement.h"

#include <algorithm>

#include "tensor/core/view_overlap.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/fill.h"

namespace weft::autograd {

std::vector<Placement::Whole>::iterator Placement::find(const Edge& edge) {
  return std::find_if(wholes_.begin(), wholes_.end(), [&](const Whole& w) {
    return w.edge.node.get() == edge.node.get() && w.edge.index == edge.index;
  });
}

void Placement::add_leaf(size_t input, size_t inputs, const Edge& leaf, const Tensor& buffer) {
  into_.resize(inputs);
  if (find(leaf) != wholes_.end()) return;
  wholes_.push_back({leaf, buffer.device(), {{input, buffer.layout()}}, buffer});
  // Now: the rule may be about to read an earlier gradient that is there.
  dispatch::note_write(internal::body(buffer), "backward");
}

void Placement::add(size_t input, size_t inputs, const Part& part, Device device) {
  into_.resize(inputs);
  auto whole = find(part.whole);
  if (whole != wholes_.end() && whole->gradient.defined()) return;
  if (whole == wholes_.end()) whole = wholes_.insert(whole, {part.whole, device, {}});
  for (const Placed& other : whole->parts)
    if (may_overlap(other.view, part.view)) return;
  whole->parts.push_back({input, part.view});
}

void Placement::allocate() {
  for (Whole& whole : wholes_) {
    const Meta& meta = *whole.edge.node->meta(whole.edge.index);
    int64_t covered = 0;  // the parts do not overlap
    for (const Placed& part : whole.parts) covered += part.view.numel();
    const View view = View::contiguous(meta.shape);
    if (!whole.gradient.defined())
      whole.gradient = covered == view.numel() ? dispatch::allocate(Spec{view, meta.dtype}, whole.device)
                                               : zeros(meta.shape, meta.dtype, whole.device);
    for (const Placed& part : whole.parts)
      into_[part.input] = internal::make_tensor(internal::storage_ptr(whole.gradient), part.view, meta.dtype);
  }
}

bool Placement::took(size_t input, const Tensor& gradient) {
  if (into_.empty() || !into_[input].defined() || !gradient.shares_storage(into_[input]) ||
      gradient.layout() != into_[input].layout())
    return false;
  for (Whole& whole : wholes_)
    for (Placed& part : whole.parts)
      if (part.input == input) part.written = true;
  return true;
}

void Placement::finish(const std::function<void(const Edge& whole, Tensor gradient)>& add) {
  for (Whole& whole : wholes_) {
    const auto written = [](const Placed& part) { return part.written; };
    if (std::none_of(whole.parts.begin(), whole.parts.end(), written)) continue;
    for (const Placed& part : whole.parts)
      if (!part.written) into_[part.input].fill_(0);
  }
  into_.clear();  // the engine alone is to hold what it adds to
  for (Whole& whole : wholes_)
    if (std::any_of(whole.parts.begin(), whole.parts.end(), [](const Placed& part) { return part.written; }))
      add(whole.edge, std::move(whole.gradient));
  wholes_.clear();
}

}  // namespace weft::autograd
