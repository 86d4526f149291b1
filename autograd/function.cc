#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "autograd/function_node.h"
#include "tensor/batching/level.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/view.h"

namespace weft::autograd {

Context::Context() = default;
Context::Context(const std::vector<Tensor>& inputs) {
  for (const Tensor& x : inputs) needs_.push_back(is_recording() && x.defined() && x.requires_grad());
}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

const Tensor& Context::saved(size_t i) const {
  if (i >= unpacked_.size()) throw IndexError(text("saved(", i, "): ", unpacked_.size(), " tensors were saved"));
  return unpacked_[i];
}

std::any& Context::operator[](const std::string& name) { return values_[name]; }

const std::any& Context::value_of(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error(text("the context holds no `", name, "`"));
  return found->second;
}

void Context::throw_wrong_type(const std::string& name) const {
  throw Error(text("`", name, "` in the context is a ", function_detail::readable_name(value_of(name).type())));
}

void Context::save_one(const Tensor& tensor) {
  if (!in_forward_) throw Error("save() is called outside of forward");
  if (std::ranges::count(needs_, true) == 0) return;
  if (tensor.defined()) weft::dispatch::check_version(tensor);
  pending_.push_back({tensor, tensor.defined() ? Saved(tensor) : Saved()});
}

namespace function_detail {
std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : type.name();
}
}  // namespace function_detail

namespace {
/// The mark of an op that cut the path is handed on, so that backward() can name it.
void pass_on_cut(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  for (const Tensor& x : inputs) {
    if (!x.defined() || internal::body(x).cut == nullptr) continue;
    for (const Tensor& out : outputs)
      if (out.defined()) internal::body(out).cut = internal::body(x).cut;
    return;
  }
}

std::vector<Tensor> throw_outside_of_vmap(Context&, const std::vector<Tensor>&) {
  throw GradientError(
      "it ran inside vmap, and its gradient is asked for outside; take the gradient inside of vmap, or compose the "
      "function of ops");
}

/// The batch behind a sample of vmap has no history of what a Function did with it, as that ran under NoGrad. It gets
/// one that refuses to go backward, where a gradient would be lost otherwise. (An input whose memory `out` shares has
/// the same batch, and is refused as well.)
void refuse_gradient_of_batch(const std::string& name, const std::vector<Tensor>& inputs, const Tensor& out) {
  const Device device = out.device();
  std::vector<Tensor> below;
  for (const Tensor& x : inputs) below.push_back(x.defined() && x.device() == device ? batching::batch_behind(x).x : x);
  // All of the memory: `out` may be a view that overlaps itself.
  const auto elements = static_cast<int64_t>(internal::storage(out).bytes() / size_of(out.dtype()));
  const View view = View::contiguous({elements});
  const Operand all = operand(out).with(view);
  const batching::Batch batch = batching::batch_behind(device.index, all);
  std::vector<Tensor> result = {dispatch::alias(batch.x)};
  FunctionNode::record(name, Context(), &throw_outside_of_vmap, below, result);
  if (dispatch::needs_gradient(result[0])) batching::store(device.index, all, {result[0], batch.batched});
}
}  // namespace

void function_detail::check_inputs(const std::string& name, const std::vector<Tensor>& inputs) {
  ErrorFrame frame(name.c_str(), std::span<const Tensor>(inputs));
  for (const Tensor& x : inputs)
    if (x.defined()) dispatch::check_input_version(x);
}

void function_detail::record_function(std::string name, Context context, FunctionBackward backward, size_t arguments,
                                      const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  constexpr size_t kMost = size_t{1} << 16;  // output_index has 16 bits
  if (arguments > 0 && arguments != outputs.size())
    throw Error(text(name, ": backward takes ", arguments, arguments == 1 ? " gradient" : " gradients",
                     ", forward returned ", outputs.size(), outputs.size() == 1 ? " result" : " results"));
  if (outputs.size() > kMost)
    throw Error(text(name, ": forward returned ", outputs.size(), " results; there may be ", kMost));
  FunctionNode::record(std::move(name), std::move(context), backward, inputs, outputs);
}

void FunctionNode::add_outputs(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& out = outputs[i];
    if (!out.defined()) {
      metas_.emplace_back();  // nothing asks for it
      continue;
    }
    // A write to its base would put the history of a view in place of this node; and a parameter that forward has from
    // elsewhere would be none any more.
    bool taken = internal::body(out).base != nullptr || internal::body(out).history;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const Tensor& x = inputs[k];
      taken = taken || out.is_same(x);
      // What aliases a leaf is written under NoGrad only, like the leaf's own views.
      const bool aliases = x.defined() && x.requires_grad() && out.shares_storage(x);
      if (aliases && refers_to_leaf(edges_[k])) view_of_leaf_ = true, base_input_ = k;
    }
    for (size_t earlier = 0; earlier < i; ++earlier) taken = taken || out.is_same(outputs[earlier]);
    if (taken) out = dispatch::alias(out);
    metas_.push_back({out.shape(), out.dtype()});
  }
}

void FunctionNode::save(std::vector<Context::Pending>& saved, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& outputs) {
  for (Context::Pending& pending : saved) {
    const Tensor& x = pending.tensor;
    SavedTensor entry;
    if (x.defined()) {
      entry.saved = std::move(pending.saved);
      entry.edge = edge_of(x);
      const auto is_x = [&](const Tensor& other) { return x.is_same(other); };
      const auto result = std::find_if(outputs.begin(), outputs.end(), is_x);
      if (result != outputs.end() && std::none_of(inputs.begin(), inputs.end(), is_x))
        entry.own_output = static_cast<int>(result - outputs.begin());
    }
    saved_.push_back(std::move(entry));
  }
}

void FunctionNode::record(std::string name, Context context, FunctionBackward backward,
                          const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  if (!is_recording()) return;
  bool needed = false;
  for (const Tensor& x : inputs) needed = needed || (x.defined() && x.requires_grad());
  for (const Tensor& out : outputs)
    if (out.defined() && out.device().kind == DeviceKind::vmap) refuse_gradient_of_batch(name, inputs, out);
  if (!needed) {
    pass_on_cut(inputs, outputs);
    return;
  }

  auto* node = new FunctionNode();
  const IntrusivePtr<Provenance> history = IntrusivePtr<Provenance>::adopt(node);
  node->name_ = std::move(name);
  node->backward_ = backward;
  for (const Tensor& x : inputs) node->edges_.push_back(edge_of(x));
  node->save(context.pending_, inputs, outputs);  // first, as add_outputs() may replace what was saved
  node->add_outputs(inputs, outputs);
  context.pending_.clear();
  context.in_forward_ = false;
  node->context_ = std::move(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !is_floating(outputs[i].dtype())) continue;
    internal::body(outputs[i]).history = history;
    internal::body(outputs[i]).output_index = static_cast<uint16_t>(i);
  }
}

Gradients FunctionNode::run(Gradients gradients) {
  // What is unpacked has this node as its history: it must not stay, also where backward throws. A backward that runs
  // this node again finds its own as it was.
  struct Cleanup {
    std::vector<Tensor>& unpacked;
    std::vector<Tensor> outer;
    ~Cleanup() { unpacked = std::move(outer); }
  } cleanup{context_.unpacked_, std::exchange(context_.unpacked_, {})};
  for (size_t i = 0; i < saved_.size(); ++i) {
    const SavedTensor& entry = saved_[i];
    if (entry.saved.empty()) {
      context_.unpacked_.emplace_back();
      continue;
    }
    const Edge edge = entry.own_output >= 0 ? Edge{NodePtr::share(this), entry.own_output} : entry.edge;
    context_.unpacked_.push_back(unpack(entry.saved, edge, name_, "saved tensor", static_cast<int>(i)));
  }
  return backward_(context_, gradients);
}

void FunctionNode::free_saved() {
  const auto is_empty = [](const SavedTensor& entry) { return entry.saved.empty(); };
  if (std::all_of(saved_.begin(), saved_.end(), is_empty)) return;
  freed_ = true;
  saved_.clear();
}

void FunctionNode::visit_saved(const SavedVisitor& visit) const {
  for (const SavedTensor& entry : saved_)
    if (!entry.saved.empty()) visit(entry.saved, refers_to_leaf(entry.edge));
}

}  // namespace weft::autograd
