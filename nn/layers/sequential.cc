#include "nn/layers/sequential.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/checkpoint.h"
#include "nn/layers/activation.h"
#include "nn/layers/containers.h"
#include "nn/layers/conv_norm.h"
#include "nn/layers/pool.h"

namespace weft::nn {

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

void Sequential::check_index(size_t index) const {
  if (index >= steps_.size())
    throw IndexError(text("index ", static_cast<int64_t>(index), " is out of range for ", size(), " modules"));
}

void Sequential::check_place(size_t index) const { detail::check_place(index, size(), "modules"); }

std::vector<detail::Renamed> Sequential::renumbered(size_t begin, size_t end, int shift) const {
  std::vector<detail::Renamed> out;
  for (size_t i = begin; i < end; ++i) {
    const std::string& name = steps_[i]->name;
    out.push_back({name, name == std::to_string(i) ? std::to_string(i + static_cast<size_t>(shift)) : name});
  }
  return out;
}

std::vector<detail::Renamed> Sequential::with_last_at(size_t index, const std::string& name) const {
  std::vector<detail::Renamed> out = {{name, name == std::to_string(size()) ? std::to_string(index) : name}};
  for (detail::Renamed& each : renumbered(index, size(), 1)) out.push_back(std::move(each));
  return out;
}

void Sequential::move_last(size_t index, std::vector<detail::Renamed> names) {
  try {
    rearrange_modules(names, steps_.back()->name);
  } catch (...) {
    steps_.pop_back();
    throw;
  }
  std::rotate(steps_.begin() + static_cast<std::ptrdiff_t>(index), steps_.end() - 1, steps_.end());
  for (size_t i = index; i < size(); ++i) steps_[i]->name.swap(names[i - index].to);
}

Owned<Sequential::Step> Sequential::take(size_t index) {
  check_index(index);
  std::vector<detail::Renamed> names = renumbered(index + 1, size(), -1);
  names.push_back({steps_[index]->name, ""});
  rearrange_modules(names);
  Owned<Step> out = std::move(steps_[index]);
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t i = index; i < size(); ++i) steps_[i]->name.swap(names[i - index].to);
  return out;
}

void Sequential::extend(Sequential&& other) {
  detail::check_other(*this, other);
  std::vector<detail::Renamed> names = other.renumbered(0, other.size(), static_cast<int>(size()));
  std::unordered_set<std::string> taken;
  for (const Owned<Step>& step : steps_) taken.insert(step->name);
  for (const auto& [from, to] : names)
    if (!taken.insert(to).second) throw Error(text("extend: the name `", to, "` is taken in this Sequential"));
  Sequential given = std::move(other);
  std::vector<detail::Renamed> released = names;
  for (detail::Renamed& each : released) each.to.clear();
  given.rearrange_modules(released);
  for (size_t i = 0; i < names.size(); ++i) {
    Owned<Step>& step = given.steps_[i];
    detail::make_room(steps_);
    register_module(names[i].to, step->layer());
    step->name.swap(names[i].to);
    steps_.push_back(std::move(step));
  }
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

}  // namespace weft::nn
