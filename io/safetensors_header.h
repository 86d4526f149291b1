// The header of a safetensors file: JSON that describes each tensor's dtype, shape and bytes. It is parsed without
// building a tree, so a header of 100 MB needs no more memory than its entries. Every rule of the format is checked
// here.
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
  uint64_t begin = 0;  // offset in the bytes after the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes
  Metadata metadata;
};

/// Parses the header. `data_bytes` is the number of bytes after the header; the entries must cover each of them exactly
/// once. Throws IoError.
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes);

/// Writes the header as JSON, padded so that the data starts at a multiple of 8 bytes.
std::string write_safetensors_header(const SafetensorsHeader& header);

/// The format's name of a dtype, such as `F32`.
std::string_view safetensors_name(DType dtype);

}  // namespace weft::io::detail
