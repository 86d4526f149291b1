// The header of a safetensors file: JSON that says where each tensor lies. Parsed without a tree, so that a header of
// 100 MB costs no more than what it declares; every rule of the format is checked here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"

namespace weft::io::detail {

/// The longest header the format allows, in bytes.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0;  // of the bytes after the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes
  Metadata metadata;
};

/// `data_bytes` is the number of bytes after the header, all of which the entries must cover exactly once. Throws
/// IoError (ShapeError for sizes that overflow).
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes);

/// The same header as text, padded so that the data begins at a multiple of 8.
std::string write_safetensors_header(const SafetensorsHeader& header);

/// `F32` and so on.
std::string_view safetensors_name(DType dtype);

/// Whether `text` is valid UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace weft::io::detail
