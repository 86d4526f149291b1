#include "distributed/group.h"

#include <utility>

#include "distributed/communicator.h"
#include "distributed/rows.h"
#include "distributed/written.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::distributed {
namespace {

/// The sizes of one of `size` parts of x along axis 0.
Shape part_shape(const Tensor& x, int64_t size) {
  if (x.rank() == 0 || x.size(0) % size != 0)
    throw ShapeError(text("the first axis must divide by the ", size, " ranks, so that each has its rows"));
  Shape shape = x.shape();
  shape[0] /= size;
  return shape;
}

void check_rank(const char* what, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) throw IndexError(text(what, " is rank ", rank, " of ", size));
}

Collective all_reduce_collective(const Communicator& c, const Tensor& x, ReduceOp op) {
  check_reducible(op, x.dtype());
  Collective out = all_reduce_of(c.rank_in_group(), op, x.dtype(), bytes_of(x), x.numel());
  out.signature = Signature::of(Call::all_reduce, x.shape(), x.dtype(), 0, op);
  out.kept = {x};
  return out;
}

Collective broadcast_collective(const Communicator& c, const Tensor& x, int64_t root) {
  check_rank("the root", root, c.size());
  Collective out = broadcast_of(c.rank_in_group(), static_cast<int>(root), bytes_of(x), x.nbytes());
  out.signature = Signature::of(Call::broadcast, x.shape(), x.dtype(), static_cast<int>(root));
  out.kept = {x};
  return out;
}

Collective all_gather_collective(const Communicator& c, const Tensor& x, const Tensor& rows) {
  Collective out = all_gather_of(c.rank_in_group(), bytes_of(x), bytes_of(rows), x.nbytes());
  out.signature = Signature::of(Call::all_gather, x.shape(), x.dtype());
  out.kept = {x, rows};
  return out;
}

Collective reduce_scatter_collective(const Communicator& c, const Tensor& x, const Tensor& part, ReduceOp op) {
  check_reducible(op, x.dtype());
  Collective out = reduce_scatter_of(c.rank_in_group(), op, x.dtype(), bytes_of(x), bytes_of(part), part.numel());
  out.signature = Signature::of(Call::reduce_scatter, x.shape(), x.dtype(), 0, op);
  out.kept = {x, part};
  return out;
}

Collective all_to_all_collective(const Communicator& c, const Tensor& x, const Tensor& rows) {
  Collective out = all_to_all_of(c.rank_in_group(), bytes_of(x), bytes_of(rows), x.nbytes() / c.size());
  out.signature = Signature::of(Call::all_to_all, x.shape(), x.dtype());
  out.kept = {x, rows};
  return out;
}

Collective reduce_collective(const Communicator& c, const Tensor& x, int64_t root, ReduceOp op) {
  Collective out;
  if (c.rank() == root) {
    out = reduce_of(c.rank_in_group(), c.rank(), op, x.dtype(), bytes_of(x), nullptr, x.numel());
    out.kept = {x};
  } else {
    const int64_t summed = c.size() > 2 ? (x.numel() + c.size() - 1) / c.size() : 0;
    const Tensor sums = empty({summed}, x.dtype());
    out = reduce_of(c.rank_in_group(), static_cast<int>(root), op, x.dtype(), bytes_of(x), bytes_of(sums), x.numel());
    out.kept = {x, sums};
  }
  out.signature = Signature::of(Call::reduce, x.shape(), x.dtype(), static_cast<int>(root), op);
  return out;
}

/// `rows` is undefined on the other ranks.
Collective gather_collective(const Communicator& c, const Tensor& x, const Tensor& rows, int64_t root) {
  Collective out = gather_of(c.rank_in_group(), static_cast<int>(root), bytes_of(x),
                             rows.defined() ? bytes_of(rows) : nullptr, x.nbytes());
  out.signature = Signature::of(Call::gather, x.shape(), x.dtype(), static_cast<int>(root));
  out.kept = rows.defined() ? std::vector<Tensor>{x, rows} : std::vector<Tensor>{x};
  return out;
}

/// The x of scatter(), in host memory on the root. The other ranks' x is not read; but what the root refuses (x inside
/// vmap), they refuse too, instead of waiting for it.
Tensor rows_to_scatter(const Tensor& x, bool is_root) {
  return is_root || !x.device().is_cpu() ? internal::host_row_major(x) : x;
}

/// Only the root's x is read and kept.
Collective scatter_collective(const Communicator& c, const Tensor& x, const Tensor& part, int64_t root) {
  Collective out = scatter_of(c.rank_in_group(), static_cast<int>(root), bytes_of(x), bytes_of(part), part.nbytes());
  out.signature = Signature::of(Call::scatter, x.shape(), x.dtype(), static_cast<int>(root));
  out.kept = c.rank() == root ? std::vector<Tensor>{x, part} : std::vector<Tensor>{part};
  return out;
}

/// Memory for a result of `shape`, which goes to x's device once it is complete.
Tensor room_for(const Tensor& x, const Shape& shape) { return empty(shape, x.dtype()); }

/// A result of `shape` on x's device, whose values come later.
Group::Pending pending_for(const Tensor& x, const Shape& shape) { return {empty(shape, x.dtype(), x.device()), {}}; }

Shape gathered_shape(const Tensor& x, int64_t size) {
  Shape shape = {size};
  for (const int64_t n : x.shape()) shape.push_back(n);
  return shape;
}

}  // namespace

// ---- the place of this process in the group ----

int64_t Group::rank() const { return communicator_->rank(); }
int64_t Group::size() const { return communicator_->size(); }
int64_t Group::local_rank() const { return communicator_->local_rank(); }
int64_t Group::local_size() const { return communicator_->local_size(); }
bool Group::is_shared() const { return communicator_->is_shared(); }

Group init(const InitOptions& options) {
  static std::weak_ptr<Communicator> current;
  std::shared_ptr<Communicator> communicator = current.lock();
  if (communicator == nullptr) current = communicator = std::make_shared<Communicator>(options);
  communicator->check_usable();
  return Group(communicator);
}

// ---- asynchronous ----

bool Work::is_done() {
  if (state_ == nullptr) return true;
  state_->group->progress();
  if (!state_->work->progress()) return false;
  wait();
  return true;
}

void Work::wait() {
  if (state_ == nullptr) return;
  const std::shared_ptr<State> state = state_;
  if (state->waited) return state_.reset();  // for a copy of this handle; the tensors may have been used since
  state->group->finish(*state->work);
  const Tensor* touched = state->watch.written();
  const std::string writer = touched ? internal::storage(*touched).writer() : "";
  if (state->written) state->written->finish();
  state->waited = true;  // only now: where something above throws, the next wait() is not taken for complete
  state_.reset();
  if (touched)
    throw Error(text(state->work->signature().to_string(), ": a tensor of shape ", touched->shape(),
                     " was written by `", writer,
                     "` before wait(), while ranks still exchanged it; write after wait(), or give a clone()"));
}

Work Group::started(Collective collective, std::shared_ptr<Written> written) const {
  const std::vector<Tensor> tensors = collective.kept;
  return Work::State::start(communicator_, tensors, std::move(written),
                            [&] { return communicator_->start(std::move(collective)); });
}

Work Group::all_reduce_async(const Tensor& x, ReduceOp op) const {
  ErrorFrame frame("all_reduce_async", x);
  check_reducible(op, x.dtype());
  auto written = std::make_shared<Written>(x, "all_reduce");
  if (size() == 1) return written->finish(), Work();
  return started(all_reduce_collective(*communicator_, written->memory(), op), written);
}

Work Group::broadcast_async(const Tensor& x, int64_t root) const {
  ErrorFrame frame("broadcast_async", x);
  check_rank("the root", root, size());
  auto written = std::make_shared<Written>(x, "broadcast");
  if (size() == 1) return written->finish(), Work();
  return started(broadcast_collective(*communicator_, written->memory(), root), written);
}

Group::Pending Group::all_gather_async(const Tensor& x) const {
  ErrorFrame frame("all_gather_async", x);
  const Tensor in = internal::host_row_major(x);
  Pending out = pending_for(x, gathered_shape(x, size()));
  if (size() == 1) return out.result.copy_(in.unsqueeze(0)), out;
  const auto written = std::make_shared<Written>(out.result, "all_gather");
  out.work = started(all_gather_collective(*communicator_, in, written->memory()), written);
  return out;
}

Group::Pending Group::reduce_scatter_async(const Tensor& x, ReduceOp op) const {
  ErrorFrame frame("reduce_scatter_async", x);
  check_reducible(op, x.dtype());
  const Tensor in = internal::host_row_major(x);
  Pending out = pending_for(x, part_shape(x, size()));
  if (size() == 1) return out.result.copy_(in), out;
  const auto written = std::make_shared<Written>(out.result, "reduce_scatter");
  out.work = started(reduce_scatter_collective(*communicator_, in, written->memory(), op), written);
  return out;
}

Group::Pending Group::all_to_all_async(const Tensor& x) const {
  ErrorFrame frame("all_to_all_async", x);
  const Tensor in = internal::host_row_major(x);
  (void)part_shape(x, size());
  Pending out = pending_for(x, x.shape());
  if (size() == 1) return out.result.copy_(in), out;
  const auto written = std::make_shared<Written>(out.result, "all_to_all");
  out.work = started(all_to_all_collective(*communicator_, in, written->memory()), written);
  return out;
}

Work Group::reduce_async(const Tensor& x, int64_t root, ReduceOp op) const {
  ErrorFrame frame("reduce_async", x);
  check_rank("the root", root, size());
  check_reducible(op, x.dtype());
  auto written = std::make_shared<Written>(x, "reduce");
  if (size() == 1) return written->finish(), Work();
  return started(reduce_collective(*communicator_, written->memory(), root, op), rank() == root ? written : nullptr);
}

Group::Pending Group::gather_async(const Tensor& x, int64_t root) const {
  ErrorFrame frame("gather_async", x);
  check_rank("the root", root, size());
  const Tensor in = internal::host_row_major(x);
  Pending out;
  std::shared_ptr<Written> written;
  if (rank() == root) {
    out = pending_for(x, gathered_shape(x, size()));
    if (size() == 1) return out.result.copy_(in.unsqueeze(0)), out;
    written = std::make_shared<Written>(out.result, "gather");
  }
  out.work = started(gather_collective(*communicator_, in, written ? written->memory() : Tensor(), root), written);
  return out;
}

Group::Pending Group::scatter_async(const Tensor& x, int64_t root) const {
  ErrorFrame frame("scatter_async", x);
  check_rank("the root", root, size());
  const Tensor in = rows_to_scatter(x, rank() == root);
  Pending out = pending_for(x, part_shape(x, size()));
  if (size() == 1) return out.result.copy_(in), out;
  const auto written = std::make_shared<Written>(out.result, "scatter");
  out.work = started(scatter_collective(*communicator_, in, written->memory(), root), written);
  return out;
}

Work Group::barrier_async() const {
  ErrorFrame frame("barrier_async");
  return size() == 1 ? Work() : started(barrier_of(), nullptr);
}

// ---- blocking ----

void Group::all_reduce(const Tensor& x, ReduceOp op) const {
  ErrorFrame frame("all_reduce", x);
  check_reducible(op, x.dtype());
  Written written(x, "all_reduce");
  if (size() == 1) return written.finish();  // what is an error on many ranks is one alone
  communicator_->run(all_reduce_collective(*communicator_, written.memory(), op));
  written.finish();
}

void Group::broadcast(const Tensor& x, int64_t root) const {
  ErrorFrame frame("broadcast", x);
  check_rank("the root", root, size());
  Written written(x, "broadcast");
  if (size() == 1) return written.finish();
  communicator_->run(broadcast_collective(*communicator_, written.memory(), root));
  written.finish();
}

Tensor Group::all_gather(const Tensor& x) const {
  ErrorFrame frame("all_gather", x);
  const Tensor in = internal::host_row_major(x);
  Tensor out = room_for(x, gathered_shape(x, size()));
  if (size() == 1) return out.copy_(in.unsqueeze(0)).to(x.device());
  communicator_->run(all_gather_collective(*communicator_, in, out));
  return out.to(x.device());
}

Tensor Group::reduce_scatter(const Tensor& x, ReduceOp op) const {
  ErrorFrame frame("reduce_scatter", x);
  check_reducible(op, x.dtype());
  const Tensor in = internal::host_row_major(x);
  Tensor out = room_for(x, part_shape(x, size()));
  if (size() == 1) return out.copy_(in).to(x.device());
  communicator_->run(reduce_scatter_collective(*communicator_, in, out, op));
  return out.to(x.device());
}

Tensor Group::all_to_all(const Tensor& x) const {
  ErrorFrame frame("all_to_all", x);
  const Tensor in = internal::host_row_major(x);
  (void)part_shape(x, size());
  Tensor out = room_for(x, x.shape());
  if (size() == 1) return out.copy_(in).to(x.device());
  communicator_->run(all_to_all_collective(*communicator_, in, out));
  return out.to(x.device());
}

void Group::reduce(const Tensor& x, int64_t root, ReduceOp op) const {
  ErrorFrame frame("reduce", x);
  check_rank("the root", root, size());
  check_reducible(op, x.dtype());
  Written written(x, "reduce");  // on every rank, so that all refuse the same tensors
  if (size() == 1) return written.finish();
  communicator_->run(reduce_collective(*communicator_, written.memory(), root, op));
  if (rank() == root) written.finish();
}

Tensor Group::gather(const Tensor& x, int64_t root) const {
  ErrorFrame frame("gather", x);
  check_rank("the root", root, size());
  if (size() == 1) return all_gather(x);
  const Tensor in = internal::host_row_major(x);
  Tensor out = rank() == root ? room_for(x, gathered_shape(x, size())) : Tensor();
  communicator_->run(gather_collective(*communicator_, in, out, root));
  return out.defined() ? out.to(x.device()) : out;
}

Tensor Group::scatter(const Tensor& x, int64_t root) const {
  ErrorFrame frame("scatter", x);
  check_rank("the root", root, size());
  const Tensor in = rows_to_scatter(x, rank() == root);
  Tensor out = room_for(x, part_shape(x, size()));
  if (size() == 1) return out.copy_(in).to(x.device());
  communicator_->run(scatter_collective(*communicator_, in, out, root));
  return out.to(x.device());
}

Tensor Group::all_gather_rows(const Tensor& x) const {
  ErrorFrame frame("all_gather_rows", x);
  return gather_rows(*this, x, rows_of_ranks(*this, x));
}

void Group::barrier(double timeout) const {
  ErrorFrame frame("barrier");
  if (!(timeout >= 0)) throw Error(text("the timeout must be 0 (the group's) or more seconds, not ", timeout));
  if (size() > 1) communicator_->run(barrier_of(), timeout);
}

}  // namespace weft::distributed
