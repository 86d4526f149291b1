#include "distributed/data_parallel/reducer.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "autograd/gradient_buffer.h"
#include "distributed/broadcast_all.h"
#include "distributed/data_parallel/bucket.h"
#include "distributed/data_parallel/same.h"

namespace weft::distributed {
namespace {

/// How a gradient lies in its bucket where it is not row by row: its strides, with 0 along axes of one element, which
/// may have any. The gradient of a frozen parameter is in none.
std::string order_in_bucket(const Tensor& parameter) {
  if (!parameter.requires_grad() || parameter.is_contiguous() || !parameter.layout().is_dense()) return "";
  IntList strides = parameter.strides();
  for (int64_t axis = 0; axis < parameter.rank(); ++axis)
    if (parameter.size(axis) == 1) strides[static_cast<size_t>(axis)] = 0;
  return text(" strides ", strides);
}

}  // namespace

// (It delegates, so that where it throws, the destructor takes hooks and buffers from the parameters.)
Reducer::Reducer(const nn::Module& model, Group group, const DataParallelOptions& options) : Reducer(std::move(group)) {
  if (options.bucket_bytes < 1 || options.first_bucket_bytes < 1)
    throw Error(text("DataParallel: the bytes of a bucket must be 1 or more, not ",
                     std::min(options.bucket_bytes, options.first_bucket_bytes)));
  if (group_.size() == 1) return;
  check_same(model, options);
  copy_from_first(model);
  fill_buckets(model, options);
  place_buckets();
  watch_parameters();
}

Reducer::~Reducer() {
  for (HookHandle& hook : hooks_) hook.remove();
  for (const auto& bucket : buckets_) bucket->detach();
  if (!buckets_.empty()) group_.communicator().release_tags(first_tag_);
}

void Reducer::check_same(const nn::Module& model, const DataParallelOptions& options) {
  std::string lines;
  for (const nn::NamedTensor& p : model.named_parameters())
    lines += text("parameter ", p.name, " ", p.tensor.shape(), " ", p.tensor.dtype(), order_in_bucket(p.tensor),
                  p.tensor.requires_grad() ? "" : " frozen", "\n");
  for (const nn::NamedTensor& b : model.buffers())
    lines += text("buffer ", b.name, " ", b.tensor.shape(), " ", b.tensor.dtype(), "\n");
  require_same(group_, lines, "DataParallel: the models differ");
  require_same(group_,
               text("buckets of ", options.bucket_bytes, " bytes, the first of ", options.first_bucket_bytes, ", ",
                    options.wire == Wire::exact ? "exact" : "bf16", " on the wire\n"),
               "DataParallel: the options differ");
  const RandomState random = random_state();
  require_same(group_, text("seed ", random.seed, ", ", random.offset, " numbers drawn\n"),
               "DataParallel: the random generators differ (every rank calls manual_seed() with the same seed)");
}

void Reducer::copy_from_first(const nn::Module& model) {
  NoGrad guard;
  std::vector<Tensor> tensors;
  for (const nn::NamedTensor& p : model.named_parameters()) tensors.push_back(p.tensor);
  for (const nn::NamedTensor& b : model.buffers()) tensors.push_back(b.tensor);
  broadcast_all(group_, tensors, std::vector<int64_t>(tensors.size(), 0));
}

void Reducer::fill_buckets(const nn::Module& model, const DataParallelOptions& options) {
  std::vector<Tensor> parameters = model.parameters();
  // Backward completes them about in reverse.
  std::reverse(parameters.begin(), parameters.end());
  int64_t bytes = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    if (!parameter.device().is_cpu())
      throw DeviceError(text("DataParallel: the parameter `", parameter.name(), "` is not on the CPU"));
    if (autograd::has_gradient_buffer(parameter))
      throw GradientError(text("DataParallel: the parameter `", parameter.name(),
                               "` is in another DataParallel, which reduces its gradient; let that end first"));
    const auto more = parameter.numel() * static_cast<int64_t>(size_of(parameter.dtype()));
    const int64_t most = contents_.size() <= 1 ? options.first_bucket_bytes : options.bucket_bytes;
    if (contents_.empty() || bytes + more > most || contents_.back()[0].dtype() != parameter.dtype()) {
      contents_.emplace_back();
      bytes = 0;
    }
    contents_.back().push_back(parameter);
    bytes += more;
  }
  if (contents_.empty()) return;
  first_tag_ = group_.communicator().reserve_tags(static_cast<int>(contents_.size()));
  for (const std::vector<Tensor>& content : contents_)
    buckets_.push_back(std::make_shared<Bucket>(group_.communicator(), content, options.wire,
                                                first_tag_ + static_cast<int>(buckets_.size())));
}

void Reducer::place_buckets() {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
  for (const auto& bucket : buckets_) {
    offsets.push_back(bytes);
    bytes += static_cast<int64_t>(Window::rounded(static_cast<size_t>(bucket->bytes())));
  }
  if (bytes == 0) return;
  const std::shared_ptr<Window> window = group_.communicator().allocate(static_cast<size_t>(bytes));
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i]->attach(group_.handle(), window, offsets[i]);
}

void Reducer::watch_parameters() {
  size_t count = 0;
  for (const std::vector<Tensor>& content : contents_) count += content.size();
  hooks_.reserve(count);  // a hook that is registered has its place
  for (size_t i = 0; i < contents_.size(); ++i)
    for (size_t j = 0; j < contents_[i].size(); ++j)
      hooks_.push_back(
          contents_[i][j].register_post_accumulate_grad_hook([this, i, j](const Tensor&) { complete(i, j); }));
}

void Reducer::count_samples(int64_t samples) {
  if (samples < 0) throw Error(text("DataParallel: the number of samples must be 0 or more, not ", samples));
  samples_ = checked_add(samples_, samples);
}

// ---- backward ----

/// Lives as long as the backward run; its destructor notices that the run ended before finish().
struct Reducer::Watch {
  explicit Watch(Reducer& reducer) : reducer(reducer) {}
  ~Watch() {
    if (!reducer.running_) return;
    reducer.running_ = false;
    // Others wait for gradients that will not come.
    reducer.group_.communicator().give_up("its backward ended with an error");
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Reducer& reducer;
};

Signature Reducer::signature() const {
  Signature out = Signature::of(Call::gradients, {samples_}, DType::f32);
  out.number = backwards_;
  return out;
}

void Reducer::begin() {
  if (running_ || !synchronized_ || buckets_.empty() || !autograd::collects_into_leaves()) return;
  group_.communicator().check_usable();
  autograd::after_backward([this, watch = std::make_shared<Watch>(*this)] { finish(); });
  for (const auto& bucket : buckets_) bucket->expect();
  running_ = true;  // last: where there is no memory for the Watch, nothing has begun
}

void Reducer::complete(size_t index, size_t position) {
  begin();
  if (!running_) return;
  Bucket& bucket = *buckets_[index];
  if (bucket.is_started()) {
    group_.communicator().give_up("its backward ended with an error");
    throw GradientError(text("DataParallel: a backward within backward adds to the gradient of `",
                             contents_[index][position].name(),
                             "`, whose reduction has begun; let it end before or begin after"));
  }
  if (autograd::is_nested_backward()) {
    bucket.hold();
  } else if (bucket.complete_one()) {
    bucket.start(signature());
    group_.communicator().add(buckets_[index]);
  }
  group_.communicator().progress();
}

void Reducer::finish() {
  Communicator& group = group_.communicator();
  for (const auto& bucket : buckets_) {
    if (bucket->is_started()) continue;
    bucket->start(signature());
    group.add(bucket);
  }
  for (const auto& bucket : buckets_) group.finish(*bucket);
  for (const auto& bucket : buckets_) bucket->set_unused_gradients();
  ++backwards_;
  running_ = false;
}

}  // namespace weft::distributed
