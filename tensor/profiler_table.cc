// What the events of a Profiler add up to, and the table of it.
#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "tensor/core/error.h"
#include "tensor/core/text_table.h"
#include "tensor/profiler.h"

namespace weft {
namespace {

using Kind = ObserverEvent::Kind;

/// The name of the event's row.
std::string name_of(const ProfilerEvent& event, bool by_class) {
  if (event.kind == Kind::backward) return "backward of " + event.name;
  return by_class ? event.name : event.label();
}

int64_t duration(const ProfilerEvent& event) { return event.end_ns - event.begin_ns; }

std::string kind_of(const ProfilerRow& row) {
  const char* const name = internal::kind_name(row.kind);
  return row.in_backward && row.kind != Kind::backward ? text(name, " in backward") : name;
}

/// A number with three digits after the point, in any locale.
std::string number(double value, int digits = 3) {
  char buffer[400];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits).ptr};
}
std::string milliseconds(int64_t ns) { return number(static_cast<double>(ns) * 1e-6); }

/// Whether `a` comes before `b` in a table.
bool comes_before(const ProfilerRow& a, const ProfilerRow& b, ProfilerSort by) {
  const auto key = [by](const ProfilerRow& row) -> double {
    switch (by) {
      case ProfilerSort::self: return static_cast<double>(row.self_ns);
      case ProfilerSort::total: return static_cast<double>(row.total_ns);
      case ProfilerSort::mean: return row.mean_ns();
      case ProfilerSort::calls: return static_cast<double>(row.calls);
      case ProfilerSort::bytes: return static_cast<double>(row.bytes);
      case ProfilerSort::name: return 0;
    }
    return 0;
  };
  if (key(a) != key(b)) return key(a) > key(b);
  return std::tie(a.name, a.kind, a.in_backward, a.inputs) < std::tie(b.name, b.kind, b.in_backward, b.inputs);
}

/// Adds events to the row of each.
class Summation {
 public:
  Summation(const std::vector<ProfilerEvent>& events, const ProfilerTableOptions& options)
      : events_(events), row_of_(events.size()) {
    for (size_t i = 0; i < events.size(); ++i) add(i, options);
  }
  std::vector<ProfilerRow> rows;

 private:
  void add(size_t index, const ProfilerTableOptions& options) {
    const ProfilerEvent& event = events_[index];
    std::string name = name_of(event, options.group_by_class);
    std::string inputs = options.group_by_input_shape ? event.inputs : std::string();
    const auto [place, is_new] =
        numbers_.try_emplace(std::tuple(event.kind, event.in_backward, name, inputs), rows.size());
    if (is_new)
      rows.push_back(
          {.kind = event.kind, .in_backward = event.in_backward, .name = std::move(name), .inputs = std::move(inputs)});
    row_of_[index] = place->second;
    ProfilerRow& row = rows[place->second];
    ++row.calls;
    row.self_ns += duration(event);
    if (event.parent >= 0) rows[row_of_[static_cast<size_t>(event.parent)]].self_ns -= duration(event);
    if (is_inside_the_same(index)) return;
    row.total_ns += duration(event);
    row.bytes += event.bytes;
  }

  bool is_inside_the_same(size_t index) const {
    for (int64_t outer = events_[index].parent; outer >= 0; outer = events_[static_cast<size_t>(outer)].parent)
      if (row_of_[static_cast<size_t>(outer)] == row_of_[index]) return true;
    return false;
  }

  const std::vector<ProfilerEvent>& events_;
  std::vector<size_t> row_of_;  // of each event
  std::map<std::tuple<Kind, bool, std::string, std::string>, size_t> numbers_;
};

/// The name in one line, also of a section whose name has several.
std::string line_of(std::string name) {
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

}  // namespace

const char* internal::kind_name(ObserverEvent::Kind kind) {
  constexpr const char* kNames[] = {"op", "layer", "backward", "section"};
  return kNames[static_cast<size_t>(kind)];
}

std::string ProfilerEvent::label() const {
  if (kind == Kind::backward) return "backward of " + (path.empty() ? name : path);
  return path.empty() ? name : text(path, " (", name, ")");
}

std::vector<ProfilerRow> Profiler::rows(const ProfilerTableOptions& options) const {
  if (options.row_limit < -1)
    throw Error(text("Profiler: row_limit must be -1 (all rows), 0 or more, not ", options.row_limit));
  if (options.group_by_input_shape && !records_shapes())
    throw Error("Profiler: group_by_input_shape needs a Profiler with the option record_shapes");
  const std::vector<ProfilerEvent> list = events();
  std::vector<ProfilerRow> rows = Summation(list, options).rows;
  std::sort(rows.begin(), rows.end(),
            [&](const ProfilerRow& a, const ProfilerRow& b) { return comes_before(a, b, options.sort_by); });
  return rows;
}

std::string Profiler::table(const ProfilerTableOptions& options) const {
  const std::vector<ProfilerRow> rows = this->rows(options);
  const bool by_shape = options.group_by_input_shape;
  int64_t all_ns = 0, calls = 0;
  for (const ProfilerRow& row : rows) all_ns += row.self_ns, calls += row.calls;
  std::vector<std::vector<std::string>> lines = {
      {"name", "kind", "calls", "self ms", "self %", "total ms", "mean us", "memory MB"}};
  if (by_shape) lines[0].emplace_back("inputs");
  const size_t shown =
      options.row_limit < 0 ? rows.size() : std::min(rows.size(), static_cast<size_t>(options.row_limit));
  for (const ProfilerRow& row : std::span(rows).first(shown)) {
    const double share = all_ns == 0 ? 0 : 100 * static_cast<double>(row.self_ns) / static_cast<double>(all_ns);
    lines.push_back({line_of(row.name), kind_of(row), text(row.calls), milliseconds(row.self_ns), number(share, 1),
                     milliseconds(row.total_ns), number(row.mean_ns() * 1e-3),
                     number(static_cast<double>(row.bytes) * 1e-6)});
    if (by_shape) lines.back().push_back(row.inputs);
  }
  std::string out = text_table(lines, by_shape ? "llrrrrrrl" : "llrrrrrr");
  if (shown < rows.size()) out += text("... and ", rows.size() - shown, " more rows\n");
  return out + text("self times: ", milliseconds(all_ns), " ms in ", calls, " events; the scopes lasted ",
                    milliseconds(scopes_ns()), " ms\n");
}

}  // namespace weft
