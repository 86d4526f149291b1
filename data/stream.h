// Streams (PyTorch's IterableDataset): examples that come one after the other, cannot be read by index, and whose
// number is not known (lines of a log, records that a program generates); and their loader.
//
//   for (const auto& [x, y] : data::StreamLoader(records, {.batch_size = 64, .workers = 4})) step(x, y);
//
// Examples are read by one thread at a time, in their order, and prepared by all. So the batches are the same with any
// number of workers, and a stream need not be divided among them. There is no shuffle and no sampler: a stream that
// wants another order keeps a buffer of its own, and draws from the key that begin() gets.
#pragma once

#include <exception>
#include <limits>
#include <optional>

#include "data/loader.h"

namespace weft::data {

/// A stream whose examples are N tensors each.
///
///   struct Lines : data::StreamOf<1> {
///     struct Reader : Pass {
///       std::ifstream file{"lines.txt"};
///       std::optional<Example> next() override {
///         std::string line;
///         if (!std::getline(file, line)) return std::nullopt;
///         return Example{tensor({std::stod(line)})};
///       }
///     };
///     Owned<Pass> begin(RandomKey) const override { return Owned<Pass>(new Reader); }
///   };
template <size_t N> class StreamOf {
 public:
  static_assert(N > 0);
  static constexpr size_t kTensors = N;
  /// One example; or a batch of examples, whose tensors have one additional first axis.
  using Example = std::array<Tensor, N>;

  /// One pass over the examples.
  class Pass {
   public:
    Pass() = default;
    virtual ~Pass() = default;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    /// The next example; nullopt at the end. Threads that load call it in turns, and not after the end or an exception.
    virtual std::optional<Example> next() = 0;
  };

  virtual ~StreamOf() = default;
  /// Starts a pass. Its randomness must come from `key`, one for each epoch.
  virtual Owned<Pass> begin(RandomKey key) const = 0;
  /// What is left to do for an example, such as decoding and augmentation: several threads do it at once. The
  /// randomness must come from `key`, one for each example.
  virtual Example prepare(Example example, RandomKey key) const {
    (void)key;
    return example;
  }
  /// Whether begin() or prepare() reads keys. If not, no key is drawn from the global generator.
  virtual bool is_random() const { return false; }
  /// Combines examples into a batch: by default stacks them along a new first axis, with a ShapeError if shapes differ.
  virtual Example combine(std::vector<Example> examples) const { return detail::stacked(std::move(examples)); }

 protected:
  StreamOf() = default;
  StreamOf(const StreamOf&) = default;
  StreamOf(StreamOf&&) noexcept = default;
  StreamOf& operator=(const StreamOf&) = default;
  StreamOf& operator=(StreamOf&&) noexcept = default;

 private:
  friend class Held<StreamOf<N>>;
  detail::Lifetime lifetime_;
};

/// Pairs of an input and its target.
using Stream = StreamOf<2>;

template <class S>
concept AnyStream = std::is_base_of_v<StreamOf<std::remove_cvref_t<S>::kTensors>, std::remove_cvref_t<S>>;

struct StreamOptions {
  int64_t batch_size = 1;
  bool drop_last = false;  // leaves out the last batch if it is smaller
  /// Number of batches that threads load ahead. 0: none, or two per worker if `workers` is set.
  int64_t prefetch = 0;
  /// Number of loading threads. 0: one thread if prefetch > 0, else none.
  int64_t workers = 0;
  /// Draws the epochs' keys; must outlive the loader. Null: the default generator.
  Generator* generator = nullptr;
};

namespace detail {

/// Lets threads read the batches of a pass in the order of their numbers, each after the one before.
class InOrder {
 public:
  explicit InOrder(int64_t first);
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  /// Calls read() as soon as the batches before `number` were read. It returns whether there may be more. Does nothing
  /// if a call returned false; after fail(), throws the reason.
  void run(int64_t number, const std::function<bool()>& read);
  /// Makes all later calls of run() throw `reason`: a batch failed, and its examples are lost.
  void fail(std::exception_ptr reason);

 private:
  struct State;
  Owned<State> state_;
};

/// The part of a loader of a stream that does not depend on the stream's type.
class StreamCore : public Progress {
 public:
  explicit StreamCore(const StreamOptions& options);
  const StreamOptions& options() const { return options_; }
  RandomKey key() const { return key_; }
  /// Starts an epoch, or resumes the one that set_position() selected, and returns its number.
  int64_t start_epoch(bool random);
  std::string position() const;
  void set_position(const std::string& position);

 private:
  StreamOptions options_;
};

/// An epoch of a stream, which the loading threads share.
template <size_t N> class StreamEpoch final : public SharedObject {
 public:
  using Example = std::array<Tensor, N>;
  /// From batch `first` on: the examples before it are read and dropped.
  StreamEpoch(const Held<StreamOf<N>>& stream, const StreamOptions& options, RandomKey key, int64_t first)
      : stream_(stream), options_(options), key_(key), order_(first) {
    pass_ = stream_->begin(split_key(key, 0));
    if (!pass_) throw Error("StreamLoader: begin() of the stream gave no pass");
    for (int64_t left = checked_multiply(first, options.batch_size); left > 0 && !is_over_; --left)
      is_over_ = !pass_->next();
  }

  /// Batch `number`; an empty one behind the last. After an exception, the same one again.
  Batch fetch(int64_t number) try {
    std::vector<Example> examples;
    order_.run(number, [&] { return read(examples); });
    const auto count = static_cast<int64_t>(examples.size());
    if (count == 0 || (options_.drop_last && count < options_.batch_size)) return {};
    const RandomKey keys = split_key(key_, 1);
    for (int64_t i = 0; i < count; ++i) {
      Example& example = examples[static_cast<size_t>(i)];
      const auto place = static_cast<uint64_t>(number * options_.batch_size + i);
      example = stream_->prepare(std::move(example), split_key(keys, place));
    }
    return list_of(stream_->combine(std::move(examples)));
  } catch (...) {
    order_.fail(std::current_exception());
    throw;
  }

 private:
  /// Reads a batch, fewer at the end: whether there may be more.
  bool read(std::vector<Example>& out) {
    for (int64_t left = options_.batch_size; left > 0 && !is_over_; --left) {
      std::optional<Example> example = pass_->next();
      is_over_ = !example;
      if (example) out.push_back(std::move(*example));
    }
    return !is_over_;
  }

  Held<StreamOf<N>> stream_;
  StreamOptions options_;
  RandomKey key_;
  InOrder order_;
  Owned<typename StreamOf<N>::Pass> pass_;
  bool is_over_ = false;
};

}  // namespace detail

/// Iterates over a stream in batches; see the top of this file. A stream that is an lvalue is held by reference and
/// must outlive the loader; a temporary is moved in. Error if batch_size < 1, prefetch < 0 or workers < 0. Exceptions
/// from the stream are rethrown in the loop.
template <size_t N> class StreamLoader : public io::Resumable {
 public:
  using Batch = std::array<Tensor, N>;
  using Iterator = detail::BatchIterator<N>;

  template <AnyStream S>
    requires(std::remove_cvref_t<S>::kTensors == N)
  explicit StreamLoader(S&& stream, const StreamOptions& options = {})
      : stream_(detail::hold_as<StreamOf<N>>(std::forward<S>(stream))), core_(options) {}
  StreamLoader(const StreamLoader&) = delete;
  StreamLoader& operator=(const StreamLoader&) = delete;

  /// Starts an epoch, which is one pass over the stream. Several iterators of a loader may be in use, each with a pass
  /// and loading threads of its own; position() is that of the one that began last.
  Iterator begin() {
    using Epoch = detail::StreamEpoch<N>;
    const bool resumes = core_.resumes();
    try {
      const int64_t number = core_.start_epoch(stream_->is_random()), first = core_.handed_out();
      const StreamOptions& options = core_.options();
      const auto epoch = IntrusivePtr<Epoch>::adopt(new Epoch(stream_, options, core_.key(), first));
      return Iterator(core_, number,
                      detail::prefetcher([epoch](int64_t batch) { return epoch->fetch(batch); }, first,
                                         std::numeric_limits<int64_t>::max(), options.prefetch, options.workers));
    } catch (...) {
      if (resumes) core_.resume_again();
      throw;
    }
  }
  std::default_sentinel_t end() const { return {}; }

  /// The epoch's key and the number of its batches that were returned, including the one in use; for a checkpoint.
  std::string position() const override { return core_.position(); }
  /// Makes the next begin() that does not throw resume that epoch: it starts a pass with the same key, and drops the
  /// examples of that number of batches. Error if the text is not from position(), or is from a loader with another
  /// batch_size or drop_last.
  void set_position(const std::string& position) override { core_.set_position(position); }

 private:
  Held<StreamOf<N>> stream_;
  detail::StreamCore core_;
};

template <AnyStream S> StreamLoader(S&&, StreamOptions = {}) -> StreamLoader<std::remove_cvref_t<S>::kTensors>;

/// A stream made of a function; see stream().
template <size_t N, class Make> class FunctionStream : public StreamOf<N> {
 public:
  using typename StreamOf<N>::Example;
  using typename StreamOf<N>::Pass;
  explicit FunctionStream(Make make) : make_(std::move(make)) {}
  Owned<Pass> begin(RandomKey) const override { return Owned<Pass>(new Reader(make_())); }

 private:
  using Next = std::invoke_result_t<const Make&>;
  struct Reader final : Pass {
    explicit Reader(Next given) : function(std::move(given)) {}
    std::optional<Example> next() override { return function(); }
    Next function;
  };
  Make make_;
};

/// make() starts a pass: it returns a function that returns the next example, or nullopt at the end.
///   auto numbers = data::stream([] {
///     return [i = 0]() mutable -> std::optional<std::array<Tensor, 1>> {
///       if (i == 100) return std::nullopt;
///       return std::array{tensor({i++})};
///     };
///   });
template <class Make> auto stream(Make make) {
  using Example = typename std::invoke_result_t<std::invoke_result_t<const Make&>&>::value_type;
  return FunctionStream<std::tuple_size_v<Example>, Make>(std::move(make));
}

}  // namespace weft::data
