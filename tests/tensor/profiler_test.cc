// The Profiler's rows, times and table, on ops and sections.
#include "tensor/profiler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using Kind = ObserverEvent::Kind;

/// The row of this name; one without calls if there is none.
ProfilerRow row_of(const Profiler& profiler, const std::string& name, const ProfilerTableOptions& options = {}) {
  for (const ProfilerRow& row : profiler.rows(options))
    if (row.name == name) return row;
  return {.kind = Kind::op, .in_backward = false, .name = "", .inputs = ""};
}

int64_t duration(const ProfilerEvent& event) { return event.end_ns - event.begin_ns; }

/// Whether each event lies inside its parent, and what follows one outside of the parent lies behind it.
void expect_nested(const std::vector<ProfilerEvent>& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_LE(events[i].begin_ns, events[i].end_ns) << i;
    if (i > 0 && events[i].thread == events[i - 1].thread) {
      EXPECT_LE(events[i - 1].begin_ns, events[i].begin_ns) << i;
    }
    if (events[i].parent < 0) continue;
    const ProfilerEvent& parent = events[static_cast<size_t>(events[i].parent)];
    EXPECT_LT(events[i].parent, static_cast<int64_t>(i));
    EXPECT_EQ(parent.thread, events[i].thread);
    EXPECT_LE(parent.begin_ns, events[i].begin_ns) << i;
    EXPECT_GE(parent.end_ns, events[i].end_ns) << i;
    EXPECT_GE(parent.bytes, events[i].bytes) << i;
  }
}

TEST(Profiler, CountsCallsAndTheMemoryOfResults) {
  Profiler profiler;
  const Tensor x = ones({100, 10});
  Tensor y = zeros({100, 10});
  {
    const ProfilerScope scope(profiler);
    for (int i = 0; i < 3; ++i) (void)exp(x);
    (void)x.t();
    y.add_(x);
    (void)max_with_indices(x, 1);
  }
  (void)exp(x);
  EXPECT_FALSE(is_observed());
  EXPECT_EQ(profiler.events().size(), 6u);
  const ProfilerRow exps = row_of(profiler, "exp");
  EXPECT_EQ(exps.calls, 3);
  EXPECT_EQ(exps.kind, Kind::op);
  EXPECT_FALSE(exps.in_backward);
  EXPECT_EQ(exps.bytes, 3 * 4000);
  EXPECT_GT(exps.total_ns, 0);
  EXPECT_EQ(exps.self_ns, exps.total_ns);
  EXPECT_DOUBLE_EQ(exps.mean_ns(), static_cast<double>(exps.total_ns) / 3);
  EXPECT_EQ(row_of(profiler, "permute").calls, 1);
  EXPECT_EQ(row_of(profiler, "permute").bytes, 0);
  EXPECT_EQ(row_of(profiler, "add").calls, 1);
  EXPECT_EQ(row_of(profiler, "add").bytes, 0);
  EXPECT_EQ(profiler.rows().size(), 4u);
  EXPECT_EQ(profiler.events().back().bytes, 100 * (4 + 8)) << "values and indices";
  for (const ProfilerEvent& event : profiler.events()) EXPECT_EQ(event.inputs, "");
}

TEST(Profiler, SelfTimesAddUp) {
  Profiler profiler;
  const Tensor x = ones({64, 64});
  constexpr int64_t kPause = 2'000'000;
  {
    const ProfilerScope scope(profiler);
    for (int i = 0; i < 3; ++i) {
      const RecordFunction outer("outer");
      const Tensor y = matmul(x, x);
      const RecordFunction inner("inner");
      std::this_thread::sleep_for(std::chrono::nanoseconds(kPause));
      (void)exp(y);
    }
    (void)exp(x);
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  ASSERT_EQ(events.size(), 3u * 4 + 1);
  expect_nested(events);
  const ProfilerRow outer = row_of(profiler, "outer"), inner = row_of(profiler, "inner");
  EXPECT_EQ(outer.kind, Kind::section);
  EXPECT_EQ(outer.calls, 3);
  EXPECT_EQ(outer.bytes, 3 * 2 * 64 * 64 * 4);
  EXPECT_EQ(inner.bytes, 3 * 64 * 64 * 4);
  EXPECT_EQ(row_of(profiler, "exp").calls, 4);
  EXPECT_GE(inner.self_ns, 3 * kPause);
  EXPECT_EQ(outer.self_ns, outer.total_ns - inner.total_ns - row_of(profiler, "matmul").total_ns);
  int64_t selves = 0, outermost = 0;
  for (const ProfilerRow& row : profiler.rows()) selves += row.self_ns;
  for (const ProfilerEvent& event : events) outermost += event.parent < 0 ? duration(event) : 0;
  EXPECT_EQ(selves, outermost);
  EXPECT_GE(profiler.scopes_ns(), outermost);
}

TEST(Profiler, CountsASectionInsideOneOfItsNameOnce) {
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    const RecordFunction outer("section"), between("other"), inner("section");
    (void)ones({8});
  }
  const ProfilerRow row = row_of(profiler, "section");
  EXPECT_EQ(row.calls, 2);
  EXPECT_EQ(row.total_ns, duration(profiler.events()[0]));
  EXPECT_EQ(row.bytes, 32);
  EXPECT_EQ(row.self_ns + row_of(profiler, "other").self_ns + row_of(profiler, "full").self_ns, row.total_ns);
}

TEST(Profiler, SectionsThatDoNotNestEndWithTheOneAround) {
  Profiler profiler;
  std::optional<RecordFunction> before(std::in_place, "before the scope");
  {
    const ProfilerScope scope(profiler);
    std::optional<RecordFunction> outer(std::in_place, "outer"), inner(std::in_place, "inner");
    before.reset();
    (void)ones({2});
    outer.reset();
    (void)ones({2});
    inner.reset();
    (void)ones({2});
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  ASSERT_EQ(events.size(), 5u);
  expect_nested(events);
  EXPECT_EQ(events[1].name, "inner");
  EXPECT_EQ(events[1].end_ns, events[0].end_ns);
  EXPECT_EQ(events[2].parent, 1);
  EXPECT_EQ(events[3].parent, -1);
  EXPECT_EQ(events[4].parent, -1);
}

TEST(Profiler, ASectionTellsWhatAnObserverThrows) {
  struct Throwing final : Observer {
    void end(const ObserverEvent& event) override {
      if (event.kind == Kind::section) throw Error("thrown at the end");
    }
  } observer;
  const ObserverScope scope(observer);
  EXPECT_SAYS(error_of([] { const RecordFunction section("section"); }), "thrown at the end");
}

TEST(Profiler, AnExceptionEndsWhatItLeaves) {
  Profiler profiler;
  const Tensor one = tensor({1}), zero = tensor({0});
  {
    const ProfilerScope scope(profiler);
    try {
      const RecordFunction outer("outer"), inner("inner");
      (void)floor_divide(one, zero);
      FAIL() << "an integer divided by 0";
    } catch (const Error&) {
    }
    (void)(one + one);
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  ASSERT_EQ(events.size(), 4u);
  expect_nested(events);
  EXPECT_EQ(events[2].parent, 1);
  EXPECT_EQ(events[3].name, "add");
  EXPECT_EQ(events[3].parent, -1);
  EXPECT_EQ(row_of(profiler, "outer").calls, 1);
  EXPECT_EQ(row_of(profiler, "inner").self_ns, duration(events[1]) - duration(events[2]));
}

TEST(Profiler, AScopeMayBeginAndEndInsideOfAnEvent) {
  Profiler profiler;
  const Tensor x = ones({2});
  Observer other;  // with it, sections are events before the scope
  const ObserverScope observed(other);
  std::optional<ProfilerScope> scope;
  {
    const RecordFunction unseen("unseen");
    scope.emplace(profiler);
    (void)exp(x);
  }
  (void)exp(x);
  {
    const RecordFunction cut("cut");
    const RecordFunction inner("inner");
    (void)exp(x);
    scope.reset();
    (void)exp(x);
    scope.emplace(profiler);
    (void)exp(x);
  }
  (void)exp(x);
  scope.reset();
  const std::vector<ProfilerEvent> events = profiler.events();
  ASSERT_EQ(events.size(), 7u);
  expect_nested(events);
  EXPECT_EQ(row_of(profiler, "unseen").calls, 0);
  EXPECT_EQ(row_of(profiler, "exp").calls, 5);
  EXPECT_EQ(events[1].parent, -1);
  EXPECT_EQ(events[2].name, "cut");
  EXPECT_EQ(events[2].end_ns, events[3].end_ns);
  EXPECT_EQ(events[4].parent, 3);
  EXPECT_EQ(events[5].parent, -1);
}

TEST(Profiler, ThreadsHaveScopesOfTheirOwn) {
  Profiler profiler;
  const Tensor x = ones({4});
  const auto work = [&] {
    const ProfilerScope scope(profiler);
    const RecordFunction section("work");
    for (int i = 0; i < 100; ++i) (void)exp(x);
  };
  {
    const ProfilerScope scope(profiler);
    (void)neg(x);
    std::thread first(work), second(work);
    first.join(), second.join();
    EXPECT_EQ(profiler.events().size(), 202u) << "this thread's scope has not ended";
    EXPECT_SAYS(error_of([&] { const ProfilerScope again(profiler); }), "records this thread already");
    (void)neg(x);
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  ASSERT_EQ(events.size(), 204u);
  expect_nested(events);
  EXPECT_EQ(row_of(profiler, "exp").calls, 200);
  EXPECT_EQ(row_of(profiler, "work").calls, 2);
  EXPECT_EQ(events[0].thread, 0);
  EXPECT_EQ(events[1].thread, 0);
  EXPECT_EQ(events[2].thread, 1);
  EXPECT_EQ(events[203].thread, 2);
  profiler.clear();
  EXPECT_TRUE(profiler.events().empty());
  EXPECT_EQ(profiler.scopes_ns(), 0);
  work();
  EXPECT_EQ(profiler.events().size(), 101u);
}

TEST(Profiler, MayEndBeforeItsScopeAndBeClearedMeanwhile) {
  auto profiler = std::make_unique<Profiler>();
  Profiler other;
  const Tensor x = ones({2});
  auto scope = std::make_unique<ProfilerScope>(*profiler);
  auto beside = std::make_unique<ProfilerScope>(other);
  (void)exp(x);
  profiler.reset();
  other.clear();
  (void)exp(x);
  scope.reset();
  beside.reset();
  EXPECT_EQ(other.events().size(), 2u);
}

TEST(Profiler, LeavesMemoryAsItIsWithoutOne) {
  const auto overwrites = [] {
    Tensor x = ones({16}) * 2.0;
    const void* const memory = x.data<float>();
    const Tensor y = exp(std::move(x));
    return y.data<float>() == memory;
  };
  EXPECT_TRUE(overwrites());
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    EXPECT_TRUE(overwrites());
    Observer other;
    const ObserverScope observed(other);
    EXPECT_FALSE(overwrites()) << "other observers may read the temporary after the op";
  }
  EXPECT_EQ(row_of(profiler, "exp").calls, 2);
  EXPECT_EQ(row_of(profiler, "exp").bytes, 64) << "the first wrote over its input";
  profiler.clear();
  Tensor drawn = zeros({16});
  {
    const ProfilerScope scope(profiler);
    drawn.uniform_();
  }
  EXPECT_EQ(profiler.events().size(), 1u) << "drawn in place, without a copy";
}

TEST(Profiler, GroupsByTheShapesOfInputs) {
  Profiler profiler({.record_shapes = true});
  {
    const ProfilerScope scope(profiler);
    const Tensor a = ones({2, 3}), b = ones({3, 4}), c = ones({3, 5}, f64);
    for (int i = 0; i < 2; ++i) (void)matmul(a, b);
    (void)matmul(a.to(f64), c);
    (void)linear(a, b.t());
    (void)ones({}).exp();
  }
  const ProfilerTableOptions by_shape = {.sort_by = ProfilerSort::name, .group_by_input_shape = true};
  std::vector<std::string> seen;
  for (const ProfilerRow& row : profiler.rows(by_shape))
    if (row.name != "full") seen.push_back(row.name + "(" + row.inputs + ") " + std::to_string(row.calls));
  EXPECT_EQ(seen, std::vector<std::string>({"cast([2, 3] f32) 1", "exp([] f32) 1",
                                            "linear([2, 3] f32, [4, 3] f32, -) 1", "matmul([2, 3] f32, [3, 4] f32) 2",
                                            "matmul([2, 3] f64, [3, 5] f64) 1", "permute([3, 4] f32) 1"}));
  EXPECT_EQ(row_of(profiler, "matmul").calls, 3);
  EXPECT_EQ(row_of(profiler, "matmul").inputs, "");
  EXPECT_SAYS(profiler.table(by_shape), "memory MB  inputs\n");
  EXPECT_SAYS(profiler.table(by_shape), "  [2, 3] f32, [3, 4] f32\n");
}

TEST(Profiler, SortsAndCutsItsTable) {
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    const Tensor x = ones({500});
    for (int i = 0; i < 3; ++i) (void)neg(x);
    const RecordFunction section("section");
    (void)cat({x, x}, 0);
  }
  const auto expect_falling = [&](ProfilerSort by, const auto& key) {
    const std::vector<ProfilerRow> rows = profiler.rows({.sort_by = by});
    ASSERT_EQ(rows.size(), 4u);
    for (size_t i = 1; i < rows.size(); ++i) EXPECT_GE(key(rows[i - 1]), key(rows[i]));
  };
  expect_falling(ProfilerSort::self, [](const ProfilerRow& row) { return row.self_ns; });
  expect_falling(ProfilerSort::total, [](const ProfilerRow& row) { return row.total_ns; });
  expect_falling(ProfilerSort::mean, [](const ProfilerRow& row) { return row.mean_ns(); });
  const auto first = [&](ProfilerSort by) { return profiler.rows({.sort_by = by})[0].name; };
  EXPECT_EQ(first(ProfilerSort::calls), "neg");
  EXPECT_EQ(first(ProfilerSort::bytes), "neg");
  EXPECT_EQ(first(ProfilerSort::name), "cat");
  const std::string table = profiler.table({.sort_by = ProfilerSort::calls, .row_limit = 1});
  EXPECT_EQ(table.find("name  kind  calls  self ms  self %  total ms "), 0u) << table;
  EXPECT_SAYS(table, "\nneg   op        3  ");
  EXPECT_SAYS(table, "      0.006\n... and 3 more rows\nself times: ");
  EXPECT_SAYS(table, " ms in 6 events; the scopes lasted ");
  EXPECT_SAYS(profiler.table({.row_limit = 0}), "... and 4 more rows\n");
  EXPECT_EQ(profiler.table({.row_limit = -1}).find("more rows"), std::string::npos);
  EXPECT_EQ(profiler.table(), profiler.table({.row_limit = 4}));
  EXPECT_SAYS(error_of([&] { (void)profiler.table({.row_limit = -2}); }), "row_limit must be -1 (all rows)");
  EXPECT_SAYS(error_of([&] { (void)profiler.rows({.group_by_input_shape = true}); }), "record_shapes");
  {
    const ProfilerScope scope(profiler);
    const RecordFunction section("caf\xc3\xa9");
  }
  EXPECT_SAYS(profiler.table(), "\ncaf\xc3\xa9     section ");
  EXPECT_EQ(Profiler().table(),
            "name  kind  calls  self ms  self %  total ms  mean us  memory MB\n"
            "self times: 0.000 ms in 0 events; the scopes lasted 0.000 ms\n");
}

TEST(Profiler, SeesAnOpOfVmapOnce) {
  Profiler profiler;
  const Tensor x = ones({5, 8});
  {
    const ProfilerScope scope(profiler);
    (void)vmap([](const Tensor& row) { return exp(row); })(x);
  }
  EXPECT_EQ(row_of(profiler, "exp").calls, 1);
  EXPECT_EQ(row_of(profiler, "exp").bytes, 8 * 4);
  expect_nested(profiler.events());
}

}  // namespace
}  // namespace weft
