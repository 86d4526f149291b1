// Profiler: how often the ops, layers and backward nodes of a part of a program run, and how long (torch.profiler).
//
//   Profiler profiler;
//   {
//     const ProfilerScope scope(profiler);
//     train_step();
//   }
//   std::cout << profiler.table();
//   io::save_trace("trace.json", profiler);  // for chrome://tracing or ui.perfetto.dev
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/core/intrusive.h"
#include "tensor/core/owned.h"
#include "tensor/dispatch/observer.h"

namespace weft {

struct ProfilerOptions {
  bool record_shapes = false;  // record the shapes and dtypes of inputs
};

/// One recorded event: the call of an op, of a layer or of a backward node, or a section (RecordFunction).
struct ProfilerEvent {
  ObserverEvent::Kind kind;
  bool in_backward;    // a backward node, or what ran inside one
  std::string name;    // of the op, the layer's class, the backward node's op, or the section
  std::string path;    // of a layer: Module::path(); of a leaf, where a gradient is accumulated: the parameter's name
  std::string inputs;  // `[64, 20] f32, [32, 20] f32`, if shapes are recorded; `-` is an absent input
  int64_t begin_ns;    // on the machine's steady clock, in nanoseconds
  int64_t end_ns;
  int64_t bytes;   // of the results of the ops inside, without views and what is written in place
  int64_t parent;  // index of the event in which it ran; -1 if there is none
  int thread;      // 0, 1, ...: its thread, numbered in the order in which the threads were first recorded

  /// As traces name it: `linear`, `body.0 (Linear)`, `backward of linear`, `backward of body.0.weight` (a leaf).
  std::string label() const;
};

/// What the events of one kind and name add up to.
struct ProfilerRow {
  ObserverEvent::Kind kind;
  bool in_backward;
  /// The label of the events; the class of layers that are grouped by class; `backward of leaf` for all leaves. Layers
  /// of two models that have the same name and class share a row.
  std::string name;
  std::string inputs;  // of all events of this row, if they are grouped by input shape
  int64_t calls = 0;
  int64_t self_ns = 0;   // without the events that ran inside
  int64_t total_ns = 0;  // an event inside another event of this row is counted once
  int64_t bytes = 0;     // likewise

  double mean_ns() const { return calls == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(calls); }
};

enum class ProfilerSort { self, total, mean, calls, bytes, name };

struct ProfilerTableOptions {
  ProfilerSort sort_by = ProfilerSort::self;  // largest first, names in alphabetical order
  int64_t row_limit = 100;                    // rows of table() at most; -1: all
  bool group_by_input_shape = false;          // a row for each list of input shapes and dtypes
  bool group_by_class = false;                // a row for each class of layers instead of each layer
};

/// Collects the events that ProfilerScopes record. An object may be used by several threads at the same time, and in
/// any number of scopes, one after the other or on several threads; their events come together in one table and one
/// trace. The events of a scope are there when it has ended. An event takes about 64 bytes until clear(),
/// with shapes 100 to 200; table() and save_trace() take about 200 more per event while they run. So record some steps
/// of a long run.
class Profiler {
 public:
  explicit Profiler(const ProfilerOptions& options = {});
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// One line per row: name, kind (`op`, `layer`, `backward`, `section`; ops and layers that ran in backward have rows
  /// of their own; `backward of graph` is a whole run of backward), calls, self time (without what ran inside), its
  /// share of all self times, total and mean time, the memory of results (MB = 10^6 bytes), and the shapes of inputs if
  /// rows are grouped by them. Then the sum of self times, and how long the scopes lasted: the difference is time
  /// outside of all events. Error if row_limit is below -1, or if rows are to be grouped by shapes that were not
  /// recorded.
  std::string table(const ProfilerTableOptions& options = {}) const;
  /// All rows of the table; row_limit is ignored. Error as in table().
  std::vector<ProfilerRow> rows(const ProfilerTableOptions& options = {}) const;
  /// All events, thread by thread as they began, parents before what ran inside them.
  std::vector<ProfilerEvent> events() const;
  /// How long all scopes that have ended lasted together.
  int64_t scopes_ns() const;
  /// Forgets the events of all scopes that have ended.
  void clear();

 private:
  friend class ProfilerScope;
  struct State;
  State& state() const;
  bool records_shapes() const;
  IntrusivePtr<SharedObject> state_;
};

/// While alive, records what runs on the calling thread. Must be destroyed on it, too. Other threads are recorded by
/// scopes of their own (workers of a data loader have none; `DataLoader.next` is a section of the thread that waits for
/// them). Error if the thread has a scope of this profiler already. The Profiler may end before the scope.
///
/// Recording costs 0.1 to 0.2 us per event. Results and the memory that they take are the same as without a profiler,
/// unless there is another observer, such as AnomalyMode. What is measured:
/// - an op: its kernel, on all threads that the kernel uses, but not the checks and the allocation before it, which
///   belong to the self time of the layer, node or section around it; a view has no kernel, so its time is about 0;
/// - an op of a device that runs asynchronously: its call only;
/// - a layer: forward(), without its hooks. Layers whose ops run fused with another layer's, in evaluation without
///   history, have no event of their own;
/// - an event that an exception leaves: until then. An event that has begun before the scope is not recorded, one that
///   ends after it counts up to the end of the scope;
/// - an op inside vmap: all samples together; its shapes and bytes are those of one sample.
class ProfilerScope {
 public:
  [[nodiscard]] explicit ProfilerScope(Profiler& profiler);
  ~ProfilerScope();
  ProfilerScope(const ProfilerScope&) = delete;
  ProfilerScope& operator=(const ProfilerScope&) = delete;

 private:
  struct Recorder;
  Owned<Recorder> recorder_;
};

/// While alive, a section with a name in what profilers of this thread record: `RecordFunction section("load");`
/// (PyTorch's record_function). Sections nest. Steps of optimizers (`AdamW.step`) and the batches of a data loader
/// (`DataLoader.next`) have one. If one ends before another that began inside it, both end. Without a profiler it costs
/// about a nanosecond.
class RecordFunction {
 public:
  [[nodiscard]] explicit RecordFunction(std::string_view name) : section_(is_observed() ? begin(name) : nullptr) {}
  ~RecordFunction() noexcept(false) {
    if (section_ != nullptr) end(section_);
  }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  struct Section;
  static Section* begin(std::string_view name);
  static void end(Section* section);
  Section* section_;
};

namespace internal {
/// `op`, `layer`, `backward` or `section`.
const char* kind_name(ObserverEvent::Kind kind);
}  // namespace internal

}  // namespace weft
