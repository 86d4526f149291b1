#include "nn/layers/sequential.h"

#include <unordered_map>

#include "autograd/checkpoint.h"
#include "nn/layers/activation.h"
#include "nn/layers/conv_norm.h"
#include "nn/layers/pool.h"

namespace weft::nn {

namespace {

/// Copies of `tensors`, undefined ones where those are. One that is there twice has one copy, as clone() requires.
std::vector<Tensor> remade_tensors(const std::vector<Tensor>& tensors) {
  std::unordered_map<const internal::TensorBody*, Tensor> copies;
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) {
    Tensor copy;
    if (x.defined()) copy = copies.try_emplace(&internal::body(x), x.detach().clone()).first->second;
    out.push_back(copy);
  }
  return out;
}

}  // namespace

size_t Sequential::fused_steps(size_t index, size_t last) const {
  // Hooks see every layer by itself.
  if (steps_[index]->batch_norm() == nullptr || detail::forward_hooks() != 0) return 1;
  if (!is_layer<ReLU>(index + 1, last)) return 1;
  return steps_[index]->batch_norm2d() != nullptr && is_layer<MaxPool2d>(index + 2, last) ? 3 : 2;
}

Sequential Sequential::remake() const {
  Sequential out;
  for (const Owned<Step>& step : steps_) step->remake(out);
  return out;
}

size_t Sequential::conv_norm_steps(size_t index, size_t last, const Tensor& x) const {
  const auto* conv = steps_[index]->exactly<Conv2d>();
  if (conv == nullptr || index + 1 == last) return 0;
  const BatchNorm2d* norm = steps_[index + 1]->batch_norm2d();
  if (norm == nullptr || !is_one_op(*conv, *norm, x)) return 0;
  return is_layer<ReLU>(index + 2, last) ? 3 : 2;
}

Tensor Sequential::forward(const Tensor& x) const { return forward(x, 0, steps_.size()); }

Tensor Sequential::forward(const Tensor& x, size_t first, size_t last) const {
  if (steps_.empty()) (void)is_training();  // one that was moved from is no identity: this throws
  if (first > last || last > steps_.size())
    throw IndexError(text("Sequential: modules ", static_cast<int64_t>(first), " to ", static_cast<int64_t>(last),
                          " of ", steps_.size()));
  Tensor y = x;
  for (size_t i = first; i < last;) {
    if (const size_t together = conv_norm_steps(i, last, y); together != 0) {
      y = conv_norm(*steps_[i]->exactly<Conv2d>(), *steps_[i + 1]->batch_norm2d(), y, together == 3);
      i += together;
      continue;
    }
    const size_t count = fused_steps(i, last);
    if (count == 3)
      y = steps_[i]->batch_norm2d()->forward_relu_max_pool(y, steps_[i + 2]->exactly<MaxPool2d>()->options());
    else if (count == 2)
      y = steps_[i]->batch_norm()->forward_relu(y);
    else if (is_layer<ReLU>(i, last))  // its input may be overwritten if nothing else holds it
      y = in_layer(
          steps_[i]->layer(), [&](const Tensor& given) { return &given == &y ? relu(std::move(y)) : relu(given); }, y);
    else
      y = steps_[i]->run(y);
    for (size_t fused = i + 1; fused < i + count; ++fused) steps_[fused]->announce(y);
    i += count;
  }
  return y;
}

Tensor checkpoint_sequential(const Sequential& model, int64_t segments, const Tensor& x) {
  ErrorFrame frame("checkpoint_sequential", x);
  if (segments < 1 || segments > static_cast<int64_t>(model.size()))
    throw Error(text("the number of segments must be 1 to the ", model.size(), " modules, not ", segments));
  const size_t length = model.size() / static_cast<size_t>(segments);
  Tensor y = x;
  size_t first = 0;
  for (int64_t part = 1; part < segments; ++part, first += length)
    y = autograd::checkpoint(
        [&model, first, length](const Tensor& given) { return model.forward(given, first, first + length); }, y);
  return model.forward(y, first, model.size());
}

Tensor ParameterList::push_back(const Tensor& value) {
  const Tensor held = value;  // it may be an item of this list, which make_room() moves
  detail::make_room(items_);
  items_.push_back(register_parameter(std::to_string(items_.size()), held));
  return items_.back();
}
ParameterList ParameterList::remake() const {
  ParameterList out;
  for (const Tensor& copy : remade_tensors(items_)) out.push_back(copy);
  return out;
}
Tensor ParameterList::operator[](size_t index) const {
  if (index >= items_.size()) throw IndexError(text("index ", index, " is out of range for ", size(), " parameters"));
  return items_[index];
}

Tensor ParameterDict::insert(const std::string& name, const Tensor& value) {
  std::string own = name;  // both may be of an item, which make_room() moves
  const Tensor held = value;
  items_.make_room(own);
  Tensor leaf = register_parameter(own, held);
  items_.push_back({std::move(own), std::move(leaf)});
  return items_[items_.size() - 1].second;
}
ParameterDict ParameterDict::remake() const {
  ParameterDict out;
  std::vector<Tensor> tensors;
  for (const auto& [name, item] : items_) tensors.push_back(item);
  const std::vector<Tensor> copies = remade_tensors(tensors);
  for (size_t i = 0; i < copies.size(); ++i) out.insert(items_[i].first, copies[i]);
  return out;
}
bool ParameterDict::contains(const std::string& name) const { return items_.contains(name); }

}  // namespace weft::nn
