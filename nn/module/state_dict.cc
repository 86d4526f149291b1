// Saving, loading and casting a module's state.
#include <algorithm>
#include <map>
#include <set>

#include "autograd/grad_mode.h"
#include "nn/module/module_state.h"
#include "tensor/functions/copy.h"

namespace weft::nn {
namespace {

/// What does not fit, as one line: `missing bias; unexpected b; weight has shape [2] instead of [3]; and 4 more`.
std::string summary_of(const std::vector<std::string>& problems) {
  constexpr size_t kShown = 5;
  std::string line = text(problems.size(), problems.size() == 1 ? " key does not fit: " : " keys do not fit: ");
  for (size_t i = 0; i < std::min(problems.size(), kShown); ++i) line += (i == 0 ? "" : "; ") + problems[i];
  if (problems.size() > kShown) line += text("; and ", problems.size() - kShown, " more");
  return line;
}

/// Why `source` cannot be copied into `target`; empty where it can.
std::string misfit(const std::string& name, const Tensor& target, const Tensor& source, bool assign) {
  if (!source.defined()) return text(name, " is undefined");
  if (source.shape() != target.shape())
    return text(name, " has shape ", source.shape(), " instead of ", target.shape());
  const bool from_floating = is_floating(source.dtype()), to_floating = is_floating(target.dtype());
  if (assign ? from_floating != to_floating : from_floating && !to_floating)
    return text(name, " is ", source.dtype(), " instead of ", target.dtype());
  const View& place = target.layout();
  if (!assign && (place.has_mask() || place.overlaps_itself()))
    return text(name, " is registered as an expanded or padded view, which cannot be written; register a copy of it");
  return {};
}

/// The keys that begin with `prefix`, without it.
StateDict keys_below(const std::string& prefix, const StateDict& given) {
  StateDict out;
  for (auto at = given.lower_bound(prefix); at != given.end() && at->first.starts_with(prefix); ++at)
    out[at->first.substr(prefix.size())] = at->second;
  if (out.empty()) throw Error(text("no key begins with `", prefix, "`"));
  return out;
}

/// How to load the module's own part of a larger model, whose names have a prefix; empty if there is no such part.
std::string advice_on(const StateDict& own, const StateDict& given, const std::string& prefix) {
  const std::string& first = own.begin()->first;
  for (const auto& [name, source] : given) {
    if (!name.ends_with("." + first) || name.starts_with('.')) continue;
    const std::string inner = name.substr(0, name.size() - first.size());
    const bool fits = std::all_of(own.begin(), own.end(), [&](const auto& item) {
      const auto found = given.find(inner + item.first);
      return found != given.end() && found->second.defined() && found->second.shape() == item.second.shape();
    });
    if (fits)
      return text(". All keys are there below `", inner, "`: `{.prefix = \"", prefix + inner, "\"}` loads them");
  }
  return {};
}

/// `source`, or a copy if the module cannot have its memory for itself.
Tensor taken_or_copied(const Tensor& source, std::set<const Storage*>& taken) {
  const bool fits = source.is_contiguous() && taken.insert(&internal::storage(source)).second;
  return fits ? source.detach() : source.clone();
}

/// Whether the missing key is num_batches_tracked of a batch norm whose averages the file has: files of older versions
/// lack it, and the module then keeps its own.
bool is_old_count(const std::string& name, const StateDict& given) {
  constexpr std::string_view kCount = "num_batches_tracked";
  if (!name.ends_with(kCount)) return false;
  return given.contains(name.substr(0, name.size() - kCount.size()) + "running_mean");
}

/// Error for a tensor that is to take other memory, as changes(name, tensor) says, but belongs to a graph.
template <class Changes> void check_leaves(Module::State& root, const Changes& changes) {
  root.walk([&](const std::string& prefix, const Module::State& part) {
    const auto check = [&](const auto& item) {
      if (!item.tensor.is_leaf() && changes(prefix + item.name, item.tensor))
        throw Error(text("`", prefix, item.name, "` is the result of a recorded op, whose memory cannot be replaced; ",
                         "compute it under NoGrad, or register it detached"));
    };
    for (const NamedTensor& parameter : part.parameters) check(parameter);
    for (const Module::State::Buffer& buffer : part.buffers) check(buffer);
  });
}

LoadResult differing_keys(const StateDict& own, const StateDict& given) {
  LoadResult out;
  for (const auto& [name, target] : own)
    if (!given.contains(name) && !is_old_count(name, given)) out.missing.push_back(name);
  for (const auto& [name, source] : given)
    if (!own.contains(name)) out.unexpected.push_back(name);
  return out;
}

/// Everything that keeps `given` from being loaded into `own`.
std::vector<std::string> problems_of(const StateDict& own, const StateDict& given, const LoadResult& differing,
                                     const LoadOptions& options) {
  std::vector<std::string> out;
  if (options.strict) {
    for (const std::string& name : differing.missing) out.push_back("missing " + name);
    for (const std::string& name : differing.unexpected) out.push_back("unexpected " + name);
  }
  for (const auto& [name, target] : own) {
    const auto found = given.find(name);
    if (found == given.end()) continue;
    if (std::string why = misfit(name, target, found->second, options.assign); !why.empty())
      out.push_back(std::move(why));
  }
  return out;
}

/// The tensors to load into `own`. Those in memory that is about to be written, and those that cannot be taken over,
/// are copied.
StateDict sources(const StateDict& own, const StateDict& given, bool assign) {
  std::set<const Storage*> written;
  for (const auto& [name, target] : own)
    if (given.contains(name)) written.insert(&internal::storage(target));
  StateDict out;
  for (const auto& [name, source] : given) {
    if (!own.contains(name)) continue;
    if (assign)
      out[name] = taken_or_copied(source, written);
    else
      out[name] = written.contains(&internal::storage(source)) ? source.clone() : source;
  }
  return out;
}

}  // namespace

void detail::take_memory(const Tensor& tensor, const Tensor& converted) {
  if (converted.shares_storage(tensor)) return;
  internal::TensorBody& body = internal::body(tensor);
  if (body.history) body.history->replaced(converted);  // first: it casts the gradient, which may run out of memory
  const uint64_t before = body.storage->version();
  body.storage = internal::storage_ptr(converted);
  // New memory counts its writes from 0. By the version an optimizer tells whether the parameter was written since the
  // last step, so that it must not come to one that the old memory had.
  while (body.storage->version() <= before) body.storage->written_by("to");
  body.view = converted.layout();
  body.dtype = converted.dtype();
  body.version = body.storage->version();
}

StateDict Module::state_dict() const {
  StateDict out;
  state().walk([&](const std::string& prefix, const State& below) {
    for (const NamedTensor& parameter : below.parameters) out[prefix + parameter.name] = parameter.tensor.detach();
    for (const State::Buffer& buffer : below.buffers)
      if (buffer.saved) out[prefix + buffer.name] = buffer.tensor.detach();
  });
  return out;
}

StateDict Module::clone_state() const {
  NoGrad guard;
  StateDict out = state_dict();
  std::map<const void*, Tensor> clones;  // parameters that modules share stay shared
  for (auto& [name, tensor] : out) {
    Tensor& clone = clones[internal::raw(tensor)];
    if (!clone.defined() || clone.layout() != tensor.layout()) clone = tensor.clone();
    tensor = clone;
  }
  return out;
}

LoadResult Module::load_state_dict(const StateDict& all, const LoadOptions& options) {
  ErrorFrame frame("load_state_dict");
  NoGrad guard;
  const StateDict below = options.prefix.empty() ? StateDict() : keys_below(options.prefix, all);
  const StateDict& given = options.prefix.empty() ? all : below;
  const StateDict own = state_dict();
  LoadResult result = differing_keys(own, given);
  if (const std::vector<std::string> problems = problems_of(own, given, result, options); !problems.empty()) {
    const bool missing = options.strict && !result.missing.empty();
    throw Error(summary_of(problems) + (missing ? advice_on(own, given, options.prefix) : ""), problems);
  }
  const StateDict ready = sources(own, given, options.assign);
  if (!options.assign) {
    for (const auto& [name, source] : ready) Tensor(own.at(name)).copy_(source);
    return result;
  }
  check_leaves(state(), [&](const std::string& name, const Tensor&) { return ready.contains(name); });
  state().walk([&](const std::string& prefix, const State& part) {
    const auto take = [&](const std::string& name, const Tensor& tensor) {
      if (const auto found = ready.find(prefix + name); found != ready.end())
        detail::take_memory(tensor, found->second);
    };
    for (const NamedTensor& parameter : part.parameters) take(parameter.name, parameter.tensor);
    for (const State::Buffer& buffer : part.buffers)
      if (buffer.saved) take(buffer.name, buffer.tensor);
  });
  return result;
}

void Module::to(DType dtype) {
  ErrorFrame frame("to");
  if (!is_floating(dtype)) throw DtypeError(text("a module takes f32, f64, bf16 or f16, not ", dtype));
  NoGrad guard;
  check_leaves(state(), [&](const std::string&, const Tensor& tensor) {
    return is_floating(tensor.dtype()) && tensor.dtype() != dtype;
  });
  for (const Tensor& parameter : parameters()) detail::take_memory(parameter, cast(parameter.detach(), dtype));
  state().each([&](const State& below) {
    for (const State::Buffer& buffer : below.buffers)
      if (is_floating(buffer.tensor.dtype())) detail::take_memory(buffer.tensor, cast(buffer.tensor.detach(), dtype));
  });
}

void Module::to(Device device) {
  ErrorFrame frame("to");
  NoGrad guard;
  check_leaves(state(), [&](const std::string&, const Tensor& tensor) { return tensor.device() != device; });
  for (const Tensor& parameter : parameters()) detail::take_memory(parameter, parameter.detach().to(device));
  state().each([&](const State& below) {
    for (const State::Buffer& buffer : below.buffers)
      detail::take_memory(buffer.tensor, buffer.tensor.detach().to(device));
  });
}

}  // namespace weft::nn
