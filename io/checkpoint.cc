// Tensors are called `model.NAME`, `optimizer.NAME`, `schedule.NAME`, `average.NAME` and `accumulate.NAME`; everything
// else is a text of the header: `PART.number.NAME` for these parts but the model, and for `scaler`; `random`, `loader`,
// `field.NAME`, and `crc32` of all of these.
#include "io/checkpoint.h"

#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "io/byte_order.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/runtime/log.h"

namespace weft::io {

namespace {

constexpr const char* kFormatKey = "weft.checkpoint";
constexpr const char* kFormat = "1";
constexpr const char* kChecksumKey = "crc32";

struct Contents {
  StateDict tensors;
  Metadata texts;
};

/// What begins with `prefix`, without it.
template <class Map> Map part_of(const Map& all, const std::string& prefix) {
  Map out;
  for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at)
    out.emplace(at->first.substr(prefix.size()), at->second);
  return out;
}

template <class Map> void add_part(Map& all, const std::string& prefix, const Map& part) {
  for (const auto& [name, value] : part) all.emplace(prefix + name, value);
}

/// The shortest text that reads back as the same double.
std::string number_text(double value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}

template <class Number> Number parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw IoError(weft::text(detail::shown(text), " is not a number"));
  return value;
}

/// Over names, dtypes, shapes and bytes of the tensors, and over the texts (but for itself).
std::string checksum(const Contents& contents) {
  uint32_t crc = 0;
  const auto add = [&](std::string_view bytes) {
    const uint64_t length = bytes.size();  // so that no byte can move from one text to the next
    crc = detail::crc32(crc, &length, sizeof(length));
    crc = detail::crc32(crc, bytes.data(), bytes.size());
  };
  for (const auto& [name, tensor] : contents.tensors) {
    add(name);
    add(text(tensor.dtype(), tensor.shape()));
    add(detail::row_major_bytes(internal::host_row_major(tensor)));
  }
  for (const auto& [key, value] : contents.texts) {
    if (key == kChecksumKey) continue;
    add(key);
    add(value);
  }
  return text(crc);
}

void add_state(Contents& contents, const std::string& prefix, const optim::State& state) {
  add_part(contents.tensors, prefix, state.tensors);
  for (const auto& [name, value] : state.numbers) contents.texts[prefix + "number." + name] = number_text(value);
}

optim::State state_of(const Contents& contents, const std::string& prefix) {
  optim::State state;
  state.tensors = part_of(contents.tensors, prefix);
  for (const auto& [name, value] : part_of(contents.texts, prefix + "number."))
    state.numbers.emplace(name, parse_number<double>(value));
  return state;
}

std::string random_text() {
  const RandomState state = random_state();
  return text(state.seed, " ", state.offset);
}

RandomState parse_random(const std::string& value) {
  const size_t space = value.find(' ');
  if (space == std::string::npos) throw IoError("the random state is malformed");
  return {parse_number<uint64_t>(value.substr(0, space)), parse_number<uint64_t>(value.substr(space + 1))};
}

const std::string& text_at(const Contents& contents, const char* key) {
  const auto found = contents.texts.find(key);
  if (found == contents.texts.end()) throw IoError(text("the checkpoint holds no ", key));
  return found->second;
}

Contents read(const std::string& path) {
  Contents contents;
  contents.tensors = load_safetensors(path, &contents.texts);
  const auto format = contents.texts.find(kFormatKey);
  if (format == contents.texts.end()) throw IoError("not a checkpoint: a plain safetensors file");
  if (format->second != kFormat)
    throw IoError(
        text("a checkpoint of version ", detail::shown(format->second), "; this program reads version ", kFormat));
  if (text_at(contents, kChecksumKey) != checksum(contents)) throw IoError("damaged: the checksum does not match");
  return contents;
}

/// Casting would make the run carry on with other values. `takes(own, saved)`: whether it would not.
void check_dtypes(const StateDict& own, const StateDict& saved, const char* part, bool (*takes)(DType, DType)) {
  for (const auto& [name, tensor] : own) {
    const auto found = saved.find(name);
    if (found != saved.end() && !takes(tensor.dtype(), found->second.dtype()))
      throw DtypeError(
          text(name, " is ", found->second.dtype(), " in the checkpoint and ", tensor.dtype(), " in the ", part));
  }
}
bool is_equal(DType own, DType saved) { return own == saved; }
/// An average follows a cast of its model with its next update, so that it may have been saved with fewer digits.
bool is_as_wide(DType own, DType saved) { return is_floating(saved) && promote(own, saved) == own; }

/// Steps of which those are taken back, newest first, that came before one that fails. So is that one where it runs out
/// of memory, as it may have done a part.
class Transaction {
 public:
  void add(std::function<void()> step, std::function<void()> undo) {
    steps_.emplace_back(std::move(step), std::move(undo));
  }
  void run() const {
    auto at = steps_.begin();
    try {
      for (; at != steps_.end(); ++at) at->first();
    } catch (const MemoryError&) {
      take_back_before(at + 1);
      throw;
    } catch (const std::bad_alloc&) {
      take_back_before(at + 1);
      throw;
    } catch (...) {
      take_back_before(at);
      throw;
    }
  }

 private:
  using Steps = std::vector<std::pair<std::function<void()>, std::function<void()>>>;

  void take_back_before(Steps::const_iterator end) const {
    while (end != steps_.begin()) take_back((--end)->second);
  }
  /// One that fails leaves the others to be taken back, and the first error to be told.
  static void take_back(const std::function<void()>& undo) noexcept {
    try {
      undo();
    } catch (const std::exception& e) {
      warn(e.what());
    }
  }
  static void warn(const char* why) noexcept {
    try {
      log_warn(text("a checkpoint that could not be loaded left a part changed: ", why));
    } catch (...) {  // there is not even memory to say so
    }
  }

  Steps steps_;
};

/// Adds the loading of `state` into `part`, if there is one; `current` gives the state that takes it back. Each part is
/// copied when its turn comes, and what was read of it is released then: the parts after it need the memory.
template <class Part, class Current, class State>
void load(Transaction& transaction, Part* part, const Current& current, State state) {
  if (part == nullptr) return;
  struct Loading {
    State given;
    std::optional<State> before;
  };
  const auto loading = std::make_shared<Loading>();
  loading->given = std::move(state);
  transaction.add(
      [part, current, loading] {
        loading->before = std::invoke(current, *part);
        part->load_state_dict(loading->given);
        loading->given = State();
      },
      [part, loading] {
        if (loading->before) part->load_state_dict(*loading->before);
      });
}

/// The end of its scope would undo what is loaded.
void check_not_applied(const CheckpointParts& parts) {
  if (parts.average != nullptr && parts.average->is_applied())
    throw IoError("the average is applied: save and load outside of its scope, when the model holds its own weights");
}

void apply(Contents contents, const CheckpointParts& parts) {
  check_not_applied(parts);
  // Everything that is only parsed comes first.
  StateDict model = part_of(contents.tensors, "model.");
  optim::State optimizer = state_of(contents, "optimizer."), schedule = state_of(contents, "schedule.");
  optim::State average = state_of(contents, "average."), scaler = state_of(contents, "scaler.");
  optim::State accumulate = state_of(contents, "accumulate.");
  contents.tensors.clear();
  if (parts.model != nullptr) {
    text_at(contents, "model");
    check_dtypes(parts.model->state_dict(), model, "model", is_equal);
  }
  if (parts.optimizer != nullptr) text_at(contents, "optimizer");
  if (parts.schedule != nullptr) text_at(contents, "schedule");
  if (parts.average != nullptr) {
    text_at(contents, "average");
    check_dtypes(parts.average->state_dict().tensors, average.tensors, "average", is_as_wide);
  }
  if (parts.scaler != nullptr) text_at(contents, "scaler");
  if (parts.accumulate != nullptr) text_at(contents, "accumulate");
  const std::string position = parts.loader != nullptr ? text_at(contents, "loader") : "";
  std::map<std::string, std::string> fields = part_of(contents.texts, "field.");
  const RandomState random = parts.random ? parse_random(text_at(contents, "random")) : RandomState{};

  Transaction transaction;
  load(transaction, parts.model, &nn::Module::clone_state, std::move(model));
  const auto own = [numbers = optimizer.numbers](optim::Optimizer& part) {
    optim::State before = part.own_state();
    // A switch that is off may be saved by its absence, and a state without it leaves it on.
    for (const auto& [key, value] : numbers) before.numbers.emplace(key, 0);
    return before;
  };
  load(transaction, parts.optimizer, own, std::move(optimizer));
  load(transaction, parts.schedule, &optim::Schedule::state_dict, std::move(schedule));
  load(transaction, parts.average, &optim::Average::clone_state, std::move(average));
  load(transaction, parts.scaler, &optim::GradScaler::state_dict, std::move(scaler.numbers));
  load(transaction, parts.accumulate, &optim::Accumulate::state_dict, std::move(accumulate));
  if (parts.loader != nullptr) transaction.add([&] { parts.loader->set_position(position); }, [] {});
  transaction.run();
  if (parts.fields != nullptr) *parts.fields = std::move(fields);
  if (parts.random) set_random_state(random);
}

}  // namespace

void save_checkpoint(const std::string& path, const CheckpointParts& parts) {
  detail::with_path(path, [&] {
    check_not_applied(parts);
    Contents contents;
    contents.texts[kFormatKey] = kFormat;
    // A part may be empty (an optimizer before its first step); its mark says that it was saved.
    if (parts.model != nullptr) {
      contents.texts["model"] = parts.model->type_name();
      add_part(contents.tensors, "model.", parts.model->state_dict());
    }
    const auto add = [&](const std::string& name, const auto* part) {
      if (part == nullptr) return;
      contents.texts[name] = "1";
      if constexpr (requires { part->state_dict().tensors; })
        add_state(contents, name + ".", part->state_dict());
      else
        add_state(contents, name + ".", {.tensors = {}, .numbers = part->state_dict()});
    };
    add("optimizer", parts.optimizer);
    add("schedule", parts.schedule);
    add("average", parts.average);
    add("scaler", parts.scaler);
    add("accumulate", parts.accumulate);
    if (parts.loader != nullptr) contents.texts["loader"] = parts.loader->position();
    if (parts.fields != nullptr) add_part(contents.texts, "field.", *parts.fields);
    if (parts.random) contents.texts["random"] = random_text();
    contents.texts[kChecksumKey] = checksum(contents);
    save_safetensors(path, contents.tensors, contents.texts);
  });
}

void load_checkpoint(const std::string& path, const CheckpointParts& parts) {
  detail::with_path(path, [&] { apply(read(path), parts); });
}

}  // namespace weft::io
