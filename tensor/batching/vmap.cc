#include "tensor/batching/vmap.h"

#include <algorithm>

#include "tensor/batching/level.h"
#include "tensor/batching/value.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"

namespace weft {

BatchAxes::BatchAxes(int64_t axis) : axes_{axis} {}
BatchAxes::BatchAxes(std::nullopt_t) : axes_{std::nullopt} {}
BatchAxes::BatchAxes(std::initializer_list<std::optional<int64_t>> axes) : axes_(axes), each_(true) {}
BatchAxes::BatchAxes(std::vector<std::optional<int64_t>> axes) : axes_(std::move(axes)), each_(true) {}

BatchAxes BatchAxes::spread(size_t named, size_t count) const {
  std::vector<std::optional<int64_t>> axes(named, of(0, count, "arguments"));
  for (size_t i = 1; i < count; ++i) axes.push_back(of(i, count, "arguments"));
  return BatchAxes(std::move(axes));
}

std::optional<int64_t> BatchAxes::of(size_t i, size_t count, const char* what) const {
  if (!each_) return axes_[0];
  if (axes_.size() != count) throw Error(text("vmap: ", axes_.size(), " batch axes for ", count, " ", what));
  return axes_[i];
}

namespace batching {
namespace {

/// The arguments' batch axes, and the size that they agree on.
struct Batched {
  std::vector<std::optional<int64_t>> axes;
  std::optional<int64_t> size;
  Device below;
};

Batched batch_of(const Tensors& arguments, const BatchAxes& in_dims) {
  ErrorFrame frame("vmap", std::span<const Tensor>(arguments));
  Batched out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor& x = arguments[i];
    std::optional<int64_t> axis = in_dims.of(i, arguments.size(), "arguments");
    if (axis) {
      if (x.rank() == 0) throw ShapeError(text("argument ", i, " has no axis to take samples along; give it nullopt"));
      axis = normalize_axis(*axis, x.rank());
      const int64_t size = x.size(*axis);
      if (out.size && *out.size != size)
        throw ShapeError(
            text("argument ", i, " has ", size, " samples along axis ", *axis, ", those before it ", *out.size));
      if (!out.size) out.below = x.device();
      out.size = size;
    }
    out.axes.push_back(axis);
  }
  if (!out.size) throw Error("no argument has a batch axis");
  return out;
}

/// A result with its batch axis at `axis`.
Tensor finished(const Tensor& y, Device device, int64_t size, std::optional<int64_t> axis, size_t number) {
  Batch batch{y, false};
  if (y.device() == device) batch = batch_behind(y);
  if (!axis) {
    if (batch.batched) throw Error(text("vmap: result ", number, " differs between samples and needs a batch axis"));
    return batch.x;
  }
  Shape shape = y.shape();
  shape.insert(0, size);
  const Tensor whole = batch.batched ? batch.x : expand(unsqueeze(batch.x, 0), shape);
  ErrorFrame frame("vmap", y);
  const int64_t to = normalize_axis(*axis, whole.rank());
  return to == 0 ? whole : movedim(whole, 0, to);
}

/// What the function wrote to the samples of an argument, and the place for it in the argument.
struct Write {
  Tensor place, values;
  bool recorded;
};

/// Error if the argument `x` may not be written to.
std::optional<Write> write_to(const Tensor& sample, const Tensor& x, int64_t axis) {
  const Storage& storage = internal::storage(sample);
  if (storage.version() == 0) return std::nullopt;
  ErrorFrame frame("vmap", x);
  const bool has_history = !static_cast<const Value*>(storage.data())->history_lost();
  const bool recorded = internal::modes().recording && has_history;
  const internal::ModeScope mode(&internal::Modes::recording, recorded);
  Write out{movedim(x, axis, 0), batch_behind(sample).x, recorded};
  (void)dispatch::check_writable(out.place, "copy_", out.values.requires_grad());
  return out;
}

void write_back(Write& write) {
  ErrorFrame frame("vmap", write.place);
  const internal::ModeScope mode(&internal::Modes::recording, write.recorded);
  write.place.copy_(write.values);
}

/// f for all samples at once.
Tensors run(const std::function<Tensors(const Tensors&)>& f, const Tensors& arguments, const Batched& batched,
            const BatchAxes& out_dims) {
  const LevelScope level(*batched.size, batched.below);
  Tensors samples;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<int64_t> axis = batched.axes[i];
    samples.push_back(axis ? sample_of(level.device(), {movedim(arguments[i], *axis, 0), true}) : arguments[i]);
    if (axis) static_cast<Value*>(internal::storage(samples.back()).data())->set_given();
  }
  const Tensors results = f(samples);
  Tensors out;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) throw Error(text("vmap(): result ", i, " of the function is undefined"));
    const std::optional<int64_t> axis = out_dims.of(i, results.size(), "results");
    out.push_back(finished(results[i], level.device(), *batched.size, axis, i));
  }
  // Arguments are written to when nothing can fail any more. Results that are views of them keep their values.
  std::vector<Write> writes;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (batched.axes[i])
      if (auto write = write_to(samples[i], arguments[i], *batched.axes[i])) writes.push_back(std::move(*write));
  for (const Write& write : writes)
    for (size_t i = 0; i < out.size(); ++i)
      if (results[i].device() == level.device() && out[i].shares_storage(write.place)) out[i] = clone(out[i]);
  for (Write& write : writes) write_back(write);
  return out;
}

}  // namespace

Tensors vmap(const std::function<Tensors(const Tensors&)>& f, const Tensors& arguments, const BatchAxes& in_dims,
             const BatchAxes& out_dims, const VmapOptions& options) {
  const int64_t step = options.samples_at_once;
  if (step < 0) throw Error(text("vmap: samples_at_once must be 0 (all) or more, not ", step));
  const Batched batched = batch_of(arguments, in_dims);
  if (step == 0 || *batched.size <= step) return run(f, arguments, batched, out_dims);
  std::vector<Tensors> parts;  // of each result
  for (int64_t begin = 0; begin < *batched.size; begin += step) {
    Batched part = batched;
    part.size = std::min(step, *batched.size - begin);
    Tensors own = arguments;
    for (size_t i = 0; i < own.size(); ++i)
      if (const auto axis = batched.axes[i]) own[i] = narrow(own[i], *axis, begin, *part.size);
    const Tensors results = run(f, own, part, out_dims);
    if (begin == 0) parts.resize(results.size());
    if (parts.size() != results.size())
      throw Error(text("vmap: the function gave ", parts.size(), " results, and then ", results.size()));
    for (size_t i = 0; i < results.size(); ++i) parts[i].push_back(results[i]);
  }
  Tensors out;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int64_t> axis = out_dims.of(i, parts.size(), "results");
    out.push_back(axis ? cat(parts[i], *axis) : parts[i][0]);
  }
  return out;
}

}  // namespace batching
}  // namespace weft
