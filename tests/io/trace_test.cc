// Traces of a Profiler, read by the JSON library.
#include "io/trace.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"
#include "tests/io/files.h"

namespace weft {
namespace {

using nlohmann::json;
using test::Folder;

/// The file's complete events ("X"), after a check of what the format asks for.
std::vector<json> events_of(const std::string& path) {
  const json trace = json::parse(test::read_bytes(path));
  std::vector<json> out;
  std::set<int> named;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      EXPECT_EQ(event.at("name"), "thread_name");
      named.insert(event.at("tid").get<int>());
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_EQ(event.at("pid"), getpid());
    EXPECT_TRUE(named.contains(event.at("tid").get<int>())) << "each thread has a name";
    out.push_back(event);
  }
  return out;
}

/// A time of the file in nanoseconds.
int64_t ns(const json& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

const json& find(const std::vector<json>& events, const std::string& name) {
  static const json none;
  for (const json& event : events)
    if (event.at("name") == name) return event;
  ADD_FAILURE() << "no event " << name;
  return none;
}

/// Any two events of a thread are apart, or one is inside the other.
void expect_nested(const std::vector<json>& events) {
  std::map<int, std::vector<int64_t>> open;  // of each thread: the ends of the events that are open
  for (const json& event : events) {
    std::vector<int64_t>& ends = open[event.at("tid").get<int>()];
    const int64_t begin = ns(event.at("ts")), end = begin + ns(event.at("dur"));
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back()) << event.at("name");
    }
    ends.push_back(end);
  }
}

struct Net : nn::Layer<Net> {
  nn::Linear head = register_module("head", nn::Linear(3, 2));
  Tensor forward(const Tensor& x) const { return head(x); }
};

TEST(Trace, HasTheEventsOfATrainingStep) {
  const Folder folder;
  Net net;
  optim::AdamW optimizer(net.parameters());
  Profiler profiler({.record_shapes = true});
  {
    const ProfilerScope scope(profiler);
    const RecordFunction section("a \"step\" \n with \xff");
    net(ones({4, 3})).sum().backward();
    optimizer.step();
  }
  io::save_trace(folder / "a.json", profiler);
  const std::vector<json> events = events_of(folder / "a.json");
  const std::vector<ProfilerEvent> recorded = profiler.events();
  ASSERT_EQ(events.size(), recorded.size());
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(ns(events[i].at("ts")), recorded[i].begin_ns);
    EXPECT_EQ(ns(events[i].at("dur")), recorded[i].end_ns - recorded[i].begin_ns);
    EXPECT_EQ(events[i].at("args").at("bytes"), recorded[i].bytes);
  }
  expect_nested(events);
  EXPECT_EQ(events[0].at("name"), "a \"step\" \n with \xef\xbf\xbd");
  EXPECT_EQ(events[0].at("cat"), "section");
  EXPECT_EQ(find(events, "Net").at("cat"), "layer");
  EXPECT_EQ(find(events, "head (Linear)").at("args").at("inputs"), "[4, 3] f32");
  EXPECT_EQ(find(events, "linear").at("cat"), "op");
  EXPECT_EQ(find(events, "linear").at("args").at("bytes"), 32);
  EXPECT_EQ(find(events, "linear").at("args").at("inputs"), "[4, 3] f32, [2, 3] f32, [2] f32");
  EXPECT_EQ(find(events, "backward of linear").at("cat"), "backward");
  EXPECT_EQ(find(events, "AdamW.step").at("cat"), "section");
}

TEST(Trace, HasTheEventsOfAllThreads) {
  const Folder folder;
  Profiler profiler;
  const auto work = [&] {
    const ProfilerScope scope(profiler);
    for (int i = 0; i < 2500; ++i) (void)exp(ones({2}));  // more than one part of the file
  };
  work();
  std::thread(work).join();
  work();
  io::save_trace(folder / "a.json", profiler);
  const std::vector<json> events = events_of(folder / "a.json");
  ASSERT_EQ(events.size(), 15'000u);
  expect_nested(events);
  int64_t second = 0;
  for (const json& event : events) {
    second += event.at("tid") == 1;
    EXPECT_FALSE(event.at("args").contains("inputs"));
  }
  EXPECT_EQ(second, 5000);
}

TEST(Trace, OfNothingIsAFileAndAPathThatCannotBeIsAnError) {
  const Folder folder;
  const Profiler profiler;
  io::save_trace(folder / "a.json", profiler);
  EXPECT_TRUE(events_of(folder / "a.json").empty());
  EXPECT_SAYS(test::io_error([&] { io::save_trace("/none/a.json", profiler); }), "/none/a.json: cannot create");
}

}  // namespace
}  // namespace weft
