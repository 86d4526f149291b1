#include "io/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "io/file.h"
#include "tensor/core/error.h"

namespace weft::io::detail {

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 9> kDescr = {{{"f4", DType::f32},
                                                                       {"f8", DType::f64},
                                                                       {"f2", DType::f16},
                                                                       {"i8", DType::i64},
                                                                       {"i4", DType::i32},
                                                                       {"i2", DType::i16},
                                                                       {"i1", DType::i8},
                                                                       {"u1", DType::u8},
                                                                       {"b1", DType::boolean}}};

/// Parses the dict; every function first skips white space.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(weft::text("'", c, "' expected"));
  }
  std::string_view string() {
    skip_space();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') fail("a string expected");
    const size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view value = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")})
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return word == "True";
      }
    fail("True or False expected");
  }
  int64_t size() {
    skip_space();
    int64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a size does not fit into 64 bits");
    if (error != std::errc() || value < 0) fail("a size expected");
    position_ += static_cast<size_t>(end - begin);
    if (text_.substr(position_, 1) == "L") ++position_;  // a long of Python 2
    return value;
  }
  /// `()`, `(3,)`, `(2, 3)`; `(2L, 3L)` by Python 2
  Shape tuple() {
    Shape shape;
    bool comma = true;
    for (expect('('); !accept(')'); comma = accept(',')) {
      if (!comma) fail("',' expected");
      if (shape.size() == kMaxAxes) fail(weft::text("more than ", kMaxAxes, " axes"));
      shape.push_back(size());
    }
    if (shape.size() == 1 && !comma) fail("a tuple of one ends with ','");
    return shape;
  }
  /// A list, as it is written; empty where something else is next.
  std::string_view list() {
    skip_space();
    const size_t begin = position_;
    int depth = 0;
    for (size_t at = begin; at < text_.size(); ++at) {
      if (text_[at] == '[') ++depth;
      if (text_[at] == ']') --depth;
      if (depth == 0) return position_ = at == begin ? begin : at + 1, text_.substr(begin, position_ - begin);
    }
    return {};
  }
  void expect_end() {
    skip_space();
    if (position_ != text_.size()) fail("the end expected");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(weft::text("the .npy header is malformed at its byte ", position_, ": ", what));
  }

 private:
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }

  std::string_view text_;
  size_t position_ = 0;
};

[[noreturn]] void refuse_descr(std::string_view descr) {
  throw IoError(text("element type ", shown(descr), " is none that weft has (f2 f4 f8 i1 i2 i4 i8 u1 b1)"));
}

void read_descr(std::string_view descr, NpyHeader& header) {
  const char order = descr.empty() ? '\0' : descr.front();
  const std::string_view kind = descr.substr(std::min<size_t>(1, descr.size()));
  for (const auto& [name, dtype] : kDescr) {
    if (kind != name) continue;
    header.dtype = dtype;
    header.big_endian = order == '>';
    const bool one_byte = size_of(dtype) == 1;
    if (order == '<' || order == '>' || order == '=' || (order == '|' && one_byte)) return;
  }
  refuse_descr(descr);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view dict) {
  NpyHeader header;
  DictReader reader(dict);
  int seen = 0;
  bool comma = true;
  for (reader.expect('{'); !reader.accept('}'); comma = reader.accept(',')) {
    if (!comma) reader.fail("',' expected");
    const std::string_view key = reader.string();
    const int bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
    if (bit == 0) reader.fail(text("unknown key ", shown(key)));
    if ((seen & bit) != 0) reader.fail(text("key ", shown(key), " is there twice"));
    seen |= bit;
    reader.expect(':');
    if (bit == 1)
      if (const std::string_view fields = reader.list(); !fields.empty())
        refuse_descr(fields);  // of a structured array
    if (bit == 1) read_descr(reader.string(), header);
    if (bit == 2) header.fortran_order = reader.boolean();
    if (bit == 4) header.shape = reader.tuple();
  }
  reader.expect_end();
  if (seen != 7) reader.fail("descr, fortran_order and shape are needed");
  return header;
}

std::string write_npy_header(DType dtype, const Shape& shape) {
  std::string_view kind;
  for (const auto& [name, known] : kDescr)
    if (known == dtype) kind = name;
  if (kind.empty()) throw DtypeError(text("NumPy has no ", dtype, "; cast to f32 first"));
  std::string dict =
      text("{'descr': '", size_of(dtype) == 1 ? '|' : '<', kind, "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < shape.size(); ++i)
    dict += text(i == 0 ? "" : " ", shape[i], i == 0 || i + 1 < shape.size() ? "," : "");
  dict += "), }";
  constexpr size_t kPrefix = 10;  // magic, version, length
  const size_t total = (kPrefix + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - kPrefix - 1, ' ');
  dict += '\n';
  std::string out = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

}  // namespace weft::io::detail
