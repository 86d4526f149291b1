// Recording. A scope has an Observer of its own, the Recorder, which appends to the lists of a Recording that no other
// thread touches until the scope has ended. Names are interned, as those of layers and backward nodes end with their
// event. Events form a tree by the index of their parent, which also serves as the stack of those that are open; so the
// end of an event needs no memory and cannot fail.
#include "tensor/profiler.h"

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

#include "tensor/core/error.h"
#include "tensor/tensor.h"

namespace weft {
namespace {

using Kind = ObserverEvent::Kind;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Each distinct text once, numbered.
class Names {
 public:
  uint32_t number_of(std::string_view name) {
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    texts_.emplace_back(name);
    try {
      numbers_.emplace(texts_.back(), number);
    } catch (...) {
      texts_.pop_back();
      throw;
    }
    return number;
  }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;  // the keys below refer to its elements, which stay where they are
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct Recorded {
  Kind kind;
  bool in_backward;
  uint32_t name;
  uint32_t path;
  uint32_t inputs;  // number of inputs with recorded shapes
  size_t shapes;    // where they begin in Recording::shapes
  int64_t parent;   // -1: none
  int64_t begin;
  int64_t end;
  int64_t bytes;
};

/// What one scope has recorded.
struct Recording {
  std::thread::id thread;
  int thread_number = 0;
  bool ended = false;  // guarded by the mutex of the profiler
  int64_t begin = 0;
  int64_t end = 0;
  Names names;
  std::vector<Recorded> events;
  std::vector<int64_t> shapes;  // for each input: its dtype, or -1 if it is undefined; its rank; its sizes

  void add_shapes(std::span<const Tensor* const> inputs) {
    for (const Tensor* x : inputs) {
      shapes.push_back(x->defined() ? static_cast<int64_t>(x->dtype()) : -1);
      if (!x->defined()) continue;
      const Shape& shape = x->shape();
      shapes.push_back(static_cast<int64_t>(shape.size()));
      shapes.insert(shapes.end(), shape.begin(), shape.end());
    }
  }
  std::string inputs_of(const Recorded& event) const;
};

std::string Recording::inputs_of(const Recorded& event) const {
  std::string out;
  const int64_t* at = shapes.data() + event.shapes;
  for (uint32_t i = 0; i < event.inputs; ++i) {
    if (i > 0) out += ", ";
    const int64_t dtype = *at++;
    if (dtype < 0) {
      out += '-';
      continue;
    }
    const int64_t rank = *at++;
    out += text(Shape(at, at + rank), ' ', static_cast<DType>(dtype));
    at += rank;
  }
  return out;
}

/// The bytes of the results of an op that are new memory: those that share none with an input.
int64_t allocated(const ObserverEvent& event) {
  if (event.kind != Kind::op) return 0;
  int64_t bytes = 0;
  for (const Tensor& out : event.outputs) {
    bool is_new = out.defined();
    for (const Tensor* x : event.inputs) is_new = is_new && !(x->defined() && out.shares_storage(*x));
    if (is_new) bytes += out.numel() * static_cast<int64_t>(size_of(out.dtype()));
  }
  return bytes;
}

}  // namespace

struct Profiler::State final : SharedObject {
  ProfilerOptions options;
  mutable std::mutex mutex;         // guards what follows, and Recording::ended
  std::list<Recording> recordings;  // recorders refer to its elements
  std::map<std::thread::id, int> threads;
};

struct ProfilerScope::Recorder final : Observer {
  explicit Recorder(IntrusivePtr<SharedObject> profiler)
      : owner(std::move(profiler)), state(static_cast<Profiler::State&>(*owner)) {}

  bool needs_separate_ops() const override { return false; }

  void begin(const ObserverEvent& event) override {
    Recorded next = {.kind = event.kind,
                     .in_backward = event.kind == Kind::backward || (open >= 0 && at(open).in_backward),
                     .name = recording->names.number_of(event.name),
                     .path = recording->names.number_of(event.path),
                     .inputs = 0,
                     .shapes = recording->shapes.size(),
                     .parent = open,
                     .begin = 0,
                     .end = 0,
                     .bytes = 0};
    if (state.options.record_shapes) {
      recording->add_shapes(event.inputs);
      next.inputs = static_cast<uint32_t>(event.inputs.size());
    }
    recording->events.push_back(next);
    open = static_cast<int64_t>(recording->events.size()) - 1;
    at(open).begin = now();  // last, so that the time of all above is not the event's
  }

  void end(const ObserverEvent& event) override {
    const int64_t time = now();
    int64_t ended = open;
    while (ended >= 0 && !is_of(at(ended), event)) ended = at(ended).parent;
    if (ended < 0) return;              // it began before the scope
    while (open != ended) close(time);  // a section that ends after the one around it
    at(open).bytes += allocated(event);
    close(time);
  }

  bool is_of(const Recorded& recorded, const ObserverEvent& event) const {
    return recorded.kind == event.kind && recording->names[recorded.name] == event.name;
  }

  void close(int64_t time) {
    const Recorded& event = at(open);
    at(open).end = time;
    open = event.parent;
    if (open >= 0) at(open).bytes += event.bytes;
  }

  Recorded& at(int64_t index) { return recording->events[static_cast<size_t>(index)]; }

  IntrusivePtr<SharedObject> owner;
  Profiler::State& state;
  Recording* recording = nullptr;
  int64_t open = -1;  // the innermost event that has not ended
  std::optional<ObserverScope> scope;
};

ProfilerScope::ProfilerScope(Profiler& profiler) : recorder_(new Recorder(profiler.state_)) {
  Profiler::State& state = recorder_->state;
  const std::thread::id thread = std::this_thread::get_id();
  {
    const std::lock_guard lock(state.mutex);
    for (const Recording& other : state.recordings)
      if (!other.ended && other.thread == thread)
        throw Error("ProfilerScope: a scope of this profiler records this thread already");
    const int number = state.threads.try_emplace(thread, static_cast<int>(state.threads.size())).first->second;
    recorder_->recording = &state.recordings.emplace_back();
    recorder_->recording->thread = thread;
    recorder_->recording->thread_number = number;
  }
  recorder_->recording->begin = now();
  recorder_->scope.emplace(*recorder_);
}

ProfilerScope::~ProfilerScope() {
  recorder_->scope.reset();
  const int64_t time = now();
  while (recorder_->open >= 0) recorder_->close(time);
  const std::lock_guard lock(recorder_->state.mutex);
  recorder_->recording->end = time;
  recorder_->recording->ended = true;
}

Profiler::Profiler(const ProfilerOptions& options) {
  auto* const state = new State;
  state->options = options;
  state_ = IntrusivePtr<SharedObject>::adopt(state);
}

Profiler::~Profiler() = default;

Profiler::State& Profiler::state() const { return static_cast<State&>(*state_); }

bool Profiler::records_shapes() const { return state().options.record_shapes; }

std::vector<ProfilerEvent> Profiler::events() const {
  std::vector<ProfilerEvent> out;
  const std::lock_guard lock(state().mutex);
  for (size_t thread = 0; thread < state().threads.size(); ++thread)
    for (const Recording& recording : state().recordings) {
      if (!recording.ended || recording.thread_number != static_cast<int>(thread)) continue;
      const auto first = static_cast<int64_t>(out.size());
      for (const Recorded& event : recording.events)
        out.push_back({.kind = event.kind,
                       .in_backward = event.in_backward,
                       .name = recording.names[event.name],
                       .path = recording.names[event.path],
                       .inputs = recording.inputs_of(event),
                       .begin_ns = event.begin,
                       .end_ns = event.end,
                       .bytes = event.bytes,
                       .parent = event.parent < 0 ? -1 : first + event.parent,
                       .thread = recording.thread_number});
    }
  return out;
}

int64_t Profiler::scopes_ns() const {
  int64_t sum = 0;
  const std::lock_guard lock(state().mutex);
  for (const Recording& recording : state().recordings)
    if (recording.ended) sum += recording.end - recording.begin;
  return sum;
}

void Profiler::clear() {
  const std::lock_guard lock(state().mutex);
  std::erase_if(state().recordings, [](const Recording& recording) { return recording.ended; });
}

struct RecordFunction::Section {
  explicit Section(std::string_view of) : name(of) {}
  std::string name;
  ObservedEvent event{{.kind = Kind::section, .name = name}};
};

RecordFunction::Section* RecordFunction::begin(std::string_view name) { return new Section(name); }

void RecordFunction::end(Section* section) { delete section; }

}  // namespace weft
