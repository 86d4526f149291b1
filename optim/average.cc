#include "optim/average.h"

#include "autograd/grad_mode.h"
#include "optim/copies.h"
#include "optim/half_precision.h"
#include "tensor/functions/copy.h"

namespace weft::optim {
namespace {

std::string key(size_t i) { return text("average.", i); }

}  // namespace

Average::Average(std::vector<Tensor> tensors, std::vector<Tensor> others)
    : tensors_(std::move(tensors)), others_(std::move(others)) {
  if (tensors_.empty()) throw Error("an average of no parameters: was register_module() forgotten in the model?");
  NoGrad guard;
  for (const Tensor& x : tensors_) averages_.push_back(clone(cast(x.detach(), computed_dtype(x))));
}

void Average::update() {
  if (is_applied_) throw Error("update() of an average that is applied: the model holds the averages themselves");
  NoGrad guard;
  const double fresh = updates_ == 0 ? 1 : share(updates_ + 1);
  for (; included_ < tensors_.size(); ++included_) {
    const Tensor value = tensors_[included_].detach();
    Tensor& average = averages_[included_];
    const DType dtype = computed_dtype(value);
    if (average.dtype() != dtype || average.device() != value.device())
      average = cast(average.to(value.device()), dtype);  // the model was cast or moved
    if (fresh == 1)
      average.copy_(value);
    else
      average.lerp_(value, fresh);
  }
  included_ = 0;
  ++updates_;
}

void Average::copy_to_model() {
  if (is_applied_) throw Error("copy_to_model() of an average that is applied: the end of its scope would undo it");
  copy_averages();
}

void Average::copy_averages() {
  NoGrad guard;
  copy_all(averages_, tensors_);
}

Average::Applied::Applied(Average& average) : average_(average) {
  if (average.is_applied_) throw Error("this average is applied already");
  NoGrad guard;
  saved_ = copies(average.tensors_), others_ = copies(average.others_);
  average.copy_averages();
  average.is_applied_ = true;
}

Average::Applied::~Applied() {
  NoGrad guard;
  copy_all(saved_, average_.tensors_);
  copy_all(others_, average_.others_);
  average_.is_applied_ = false;
}

State Average::state_dict() const {
  State out;
  out.numbers["updates"] = static_cast<double>(updates_);
  for (size_t i = 0; i < averages_.size(); ++i) out.tensors[key(i)] = averages_[i];
  return out;
}

State Average::clone_state() const {
  State out = state_dict();
  for (auto& [name, tensor] : out.tensors) tensor = clone(tensor);
  return out;
}

void Average::load_state_dict(const State& state) {
  ErrorFrame frame("Average::load_state_dict");
  NoGrad guard;
  const int64_t updates = detail::count_of(state.numbers, "updates");
  std::vector<Tensor> found;
  for (size_t i = 0; i < averages_.size(); ++i) {
    const auto at = state.tensors.find(key(i));
    if (at == state.tensors.end()) throw Error(text("the state does not fit: missing ", key(i)));
    if (at->second.shape() != averages_[i].shape())
      throw Error(text(key(i), " has shape ", at->second.shape(), " instead of ", averages_[i].shape()));
    found.push_back(at->second);
  }
  if (found.size() != state.tensors.size()) throw Error("the state of this average has tensors of another model");
  for (size_t i = 0; i < averages_.size(); ++i) averages_[i].copy_(found[i]);
  updates_ = updates;
  included_ = 0;
}

Ema::Ema(std::vector<Tensor> tensors, double decay, std::vector<Tensor> others)
    : Average(std::move(tensors), std::move(others)), decay_(decay) {
  if (!(decay >= 0 && decay <= 1)) throw Error(text("Ema(): decay must be in [0, 1], not ", decay));
}

double Ema::share(int64_t) const { return 1 - decay_; }

}  // namespace weft::optim
