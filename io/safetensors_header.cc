#include "io/safetensors_header.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "io/file.h"
#include "tensor/core/error.h"

namespace weft::io::detail {

namespace {

constexpr std::pair<std::string_view, DType> kNames[] = {
    {"F32", DType::f32}, {"F64", DType::f64}, {"BF16", DType::bf16}, {"F16", DType::f16}, {"I64", DType::i64},
    {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},     {"U8", DType::u8},   {"BOOL", DType::boolean}};
static_assert(std::size(kNames) == kDTypeCount);
constexpr std::string_view kMetadataKey = "__metadata__";

/// Receives the JSON piece by piece and accepts only the one structure a header has.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(SafetensorsHeader& out) : out_(out) {}

  bool start_object(std::size_t) override {
    if (state_ == State::start) return enter(State::names);
    if (state_ == State::metadata_object) return enter(State::metadata);
    if (state_ == State::entry_object) return enter(State::fields);
    refuse("an object");
  }
  bool key(std::string& key) override {
    if (state_ == State::names) return read_name(key);
    if (state_ == State::metadata) return read_metadata_key(key);
    return read_field_name(key);  // keys come nowhere else
  }
  bool end_object() override {
    if (state_ == State::names) return enter(State::end);
    if (state_ == State::fields) finish_entry();
    return enter(State::names);
  }
  bool start_array(std::size_t) override {
    if (state_ == State::shape_array) return enter(State::shape);
    if (state_ == State::offsets_array) return enter(State::offsets);
    refuse("an array");
  }
  bool end_array() override {
    if (state_ == State::offsets && offsets_ != 2)
      throw IoError(text(where(), ": data_offsets has ", offsets_, " numbers where 2 belong"));
    return enter(State::fields);
  }
  bool string(std::string& value) override {
    if (state_ == State::metadata_value) {
      out_.metadata[metadata_key_] = value;
      return enter(State::metadata);
    }
    if (state_ != State::dtype) refuse("a string");
    entry().dtype = read_dtype(value);
    return enter(State::fields);
  }
  bool number_unsigned(uint64_t value) override {
    if (state_ == State::shape) return read_size(value);
    if (state_ == State::offsets) return read_offset(value);
    refuse("a number");
  }
  bool number_integer(int64_t value) override {
    if (state_ == State::shape || state_ == State::offsets)
      throw IoError(text(where(), ": the number ", value, " is negative"));
    refuse("a number");
  }
  // Integers that do not fit into 64 bits arrive here too.
  bool number_float(double, const std::string& digits) override {
    if (state_ == State::shape || state_ == State::offsets)
      throw IoError(text(where(), ": ", shown(digits), " is not an integer of 64 bits"));
    refuse("a number");
  }
  bool null() override {
    if (state_ == State::metadata_object) return enter(State::names);  // none, as the reference reader takes it
    refuse("null");
  }
  bool boolean(bool) override { refuse("a bool"); }
  bool binary(binary_t&) override { refuse("bytes"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    throw IoError(text("the header is not valid JSON at its byte ", position));
  }

 private:
  enum class State {
    start,
    names,
    metadata_object,
    metadata,
    metadata_value,
    entry_object,
    fields,
    dtype,
    shape_array,
    shape,
    offsets_array,
    offsets,
    end,
  };
  enum Field { kDtype = 1, kShape = 2, kOffsets = 4 };

  bool enter(State next) {
    state_ = next;
    return true;
  }
  SafetensorsEntry& entry() { return out_.entries.back(); }
  std::string where() const {
    switch (state_) {
      case State::start:
      case State::end: return "the header";
      case State::names:
      case State::metadata_object:
      case State::metadata:
      case State::metadata_value: return "__metadata__";
      default: return "tensor " + shown(out_.entries.back().name);
    }
  }
  [[noreturn]] void refuse(const char* what) const { throw IoError(text(where(), ": ", what, " is out of place")); }

  bool read_name(const std::string& name) {
    if (!names_.insert(name).second) throw IoError(text("the header has ", shown(name), " twice"));
    if (name == kMetadataKey) return enter(State::metadata_object);
    out_.entries.emplace_back().name = name;
    fields_ = 0;
    return enter(State::entry_object);
  }
  bool read_metadata_key(const std::string& key) {
    if (!out_.metadata.try_emplace(key).second) throw IoError(text("__metadata__ has ", shown(key), " twice"));
    metadata_key_ = key;
    return enter(State::metadata_value);
  }
  bool read_field_name(const std::string& key) {
    if (key == "dtype") return begin_field(kDtype, State::dtype, key);
    if (key == "shape") return begin_field(kShape, State::shape_array, key);
    offsets_ = 0;
    if (key == "data_offsets") return begin_field(kOffsets, State::offsets_array, key);
    throw IoError(text(where(), ": unknown field ", shown(key)));
  }
  bool begin_field(Field field, State next, const std::string& key) {
    if ((fields_ & field) != 0) throw IoError(text(where(), ": ", shown(key), " is there twice"));
    fields_ |= field;
    return enter(next);
  }
  void finish_entry() {
    if (fields_ != (kDtype | kShape | kOffsets))
      throw IoError(text(where(), ": ",
                         (fields_ & kDtype) == 0   ? "dtype"
                         : (fields_ & kShape) == 0 ? "shape"
                                                   : "data_offsets",
                         " is missing"));
  }
  DType read_dtype(const std::string& name) const {
    for (const auto& [known, dtype] : kNames)
      if (name == known) return dtype;
    throw IoError(text(where(), ": dtype ", shown(name), " is none of F32 F64 BF16 F16 I64 I32 I16 I8 U8 BOOL"));
  }
  bool read_size(uint64_t value) {
    if (value > static_cast<uint64_t>(INT64_MAX))
      throw IoError(text(where(), ": the size ", value, " is above 2^63 - 1"));
    if (entry().shape.size() == kMaxAxes) throw IoError(text(where(), ": more than ", kMaxAxes, " axes"));
    entry().shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool read_offset(uint64_t value) {
    if (offsets_ == 0) entry().begin = value;
    if (offsets_ == 1) entry().end = value;
    ++offsets_;
    return true;
  }

  SafetensorsHeader& out_;
  State state_ = State::start;
  std::set<std::string> names_;
  std::string metadata_key_;
  int fields_ = 0;
  int64_t offsets_ = 0;
};

/// The entry's own numbers agree.
void check_size(const SafetensorsEntry& entry) {
  const std::string name = shown(entry.name);
  if (entry.end < entry.begin)
    throw IoError(text("tensor ", name, ": ends at byte ", entry.end, ", before it begins at ", entry.begin));
  int64_t bytes = 0;
  try {
    bytes = checked_multiply(checked_numel(entry.shape), static_cast<int64_t>(size_of(entry.dtype)));
  } catch (const ShapeError&) {
    throw IoError(text("tensor ", name, ": the number of bytes of shape ", entry.shape, " does not fit into 64 bits"));
  }
  if (entry.end - entry.begin != static_cast<uint64_t>(bytes))
    throw IoError(text("tensor ", name, ": ", entry.shape, " of ", entry.dtype, " takes ", bytes,
                       " bytes, its data_offsets span ", entry.end - entry.begin));
}

/// Entries cover all of the data: no hole, no overlap, nothing after the last.
void check_layout(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes) {
  uint64_t position = 0;
  for (const SafetensorsEntry& entry : entries) {
    check_size(entry);
    const std::string name = shown(entry.name);
    if (entry.begin < position)
      throw IoError(
          text("tensor ", name, ": begins at byte ", entry.begin, ", inside the tensor before it (to ", position, ")"));
    if (entry.begin > position)
      throw IoError(
          text("tensor ", name, ": begins at byte ", entry.begin, ", a hole after the last used byte ", position));
    if (entry.end > data_bytes)
      throw IoError(
          text("tensor ", name, ": ends at byte ", entry.end, " of the data, of which the file has ", data_bytes));
    position = entry.end;
  }
  if (position != data_bytes) throw IoError(text(data_bytes - position, " bytes follow the last tensor"));
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (const auto& [name, known] : kNames)
    if (known == dtype) return name;
  throw DtypeError(text(dtype, " has no name in safetensors"));
}

SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes) {
  if (json.size() > kMaxSafetensorsHeader)
    throw IoError(text("a header of ", json.size(), " bytes; the format allows ", kMaxSafetensorsHeader));
  if (json.empty() || json.front() != '{') throw IoError("the header does not begin with '{'");
  if (!is_utf8(json)) throw IoError("the header is not valid UTF-8");
  // The JSON parser takes a zero byte for the end of its input and would not look at what follows.
  if (json.find('\0') != std::string_view::npos) throw IoError("the header is not valid JSON: it contains a zero byte");
  SafetensorsHeader header;
  HeaderReader reader(header);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  std::sort(header.entries.begin(), header.entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_layout(header.entries, data_bytes);
  return header;
}

namespace {

/// `text` as a JSON string. (Only strings are given to the library: its arrays and objects ask for memory when they are
/// destroyed, and where there is none, that ends the process.)
std::string quoted(const std::string& text) {
  if (!is_utf8(text)) throw IoError(weft::text("the name or text ", shown(text), " is not valid UTF-8"));
  return nlohmann::json(text).dump();
}

std::string list_of(const IntList& sizes) {
  std::string out;
  for (const int64_t size : sizes) out += (out.empty() ? "" : ",") + std::to_string(size);
  return "[" + out + "]";
}

std::string metadata_text(const std::map<std::string, std::string>& metadata) {
  std::string out;
  for (const auto& [key, value] : metadata) {
    out += (out.empty() ? "" : ",") + quoted(key) + ":";
    out += quoted(value);
  }
  return "{" + out + "}";
}

}  // namespace

std::string write_safetensors_header(const SafetensorsHeader& header) {
  std::string out = "{";
  const auto append = [&out](const std::string& key, const std::string& value) {
    if (out.size() > 1) out += ',';
    out += key + ":" + value;
  };
  if (!header.metadata.empty()) append(quoted(std::string(kMetadataKey)), metadata_text(header.metadata));
  for (const SafetensorsEntry& entry : header.entries) {
    const std::string name = quoted(entry.name);
    if (entry.name == kMetadataKey) throw IoError("a tensor cannot be called __metadata__");
    append(name, text("{\"dtype\":\"", safetensors_name(entry.dtype), "\",\"shape\":", list_of(entry.shape),
                      ",\"data_offsets\":[", entry.begin, ",", entry.end, "]}"));
  }
  out += '}';
  out.resize((out.size() + 7) / 8 * 8, ' ');
  if (out.size() > kMaxSafetensorsHeader)
    throw IoError(text("the header would have ", out.size(), " bytes; the format allows ", kMaxSafetensorsHeader));
  return out;
}

}  // namespace weft::io::detail
