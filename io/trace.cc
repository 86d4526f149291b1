#include "io/trace.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "io/file.h"
#include "tensor/core/error.h"

namespace weft::io {
namespace {

/// `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD. (Only strings are given to the library: see
/// safetensors_header.cc.)
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nanoseconds as microseconds: 1234567 as 1234.567, exactly.
std::string microseconds(int64_t ns) {
  const std::string digits = std::to_string(1000 + ns % 1000);
  return text(ns / 1000, ".", std::string_view(digits).substr(1));
}

std::string place(int thread) { return text("\"pid\":", getpid(), ",\"tid\":", thread); }

std::string line_of(const ProfilerEvent& event) {
  std::string out =
      text("{\"ph\":\"X\",\"name\":", quoted(event.label()), ",\"cat\":\"", internal::kind_name(event.kind), "\",",
           place(event.thread), ",\"ts\":", microseconds(event.begin_ns),
           ",\"dur\":", microseconds(event.end_ns - event.begin_ns), ",\"args\":{\"bytes\":", event.bytes);
  if (!event.inputs.empty()) out += ",\"inputs\":" + quoted(event.inputs);
  return out + "}}";
}

}  // namespace

void save_trace(const std::string& path, const Profiler& profiler) {
  detail::with_path(path, [&] {
    constexpr size_t kPart = 1 << 20;
    AtomicFile file(path);
    std::string part = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    std::set<int> threads;
    const char* separator = "\n";
    const auto add = [&](const std::string& line) {
      part += separator + line;
      separator = ",\n";
      if (part.size() < kPart) return;
      file.write(part);
      part.clear();
    };
    for (const ProfilerEvent& event : profiler.events()) {
      if (threads.insert(event.thread).second)
        add(text("{\"ph\":\"M\",\"name\":\"thread_name\",", place(event.thread), ",\"args\":{\"name\":\"thread ",
                 event.thread, "\"}}"));
      add(line_of(event));
    }
    file.write(part + "\n]}\n");
    file.commit();
  });
}

}  // namespace weft::io
