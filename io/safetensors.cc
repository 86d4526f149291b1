#include "io/safetensors.h"

#include <algorithm>
#include <bit>

#include "io/byte_order.h"
#include "io/file.h"
#include "io/mapped_file.h"
#include "io/safetensors_header.h"
#include "tensor/core/error.h"
#include "tensor/functions/fill.h"

namespace weft::io {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian, and so is what is written here");

namespace {

constexpr uint64_t kLengthBytes = 8;

/// A file of another known format is named as such: its first bytes, read as a length, would tell a user nothing.
void refuse_other_formats(uint64_t first_bytes) {
  constexpr const char* kConversion =
      "convert it in Python: safetensors.torch.save_file(torch.load('x.pt', weights_only=True), 'x.safetensors')";
  if (first_bytes <= detail::kMaxSafetensorsHeader) return;  // a length
  if ((first_bytes & 0xffffffff) == 0x04034b50)              // "PK\3\4"
    throw IoError(text("a zip archive, as torch.save (.pt) and numpy.savez (.npz) write, not safetensors; ",
                       kConversion,
                       ", or with safetensors.numpy.save_file(dict(numpy.load('x.npz')), 'x.safetensors')"));
  const uint64_t protocol = first_bytes >> 8 & 0xff;  // 2 to 5; a damaged length may begin with 0x80 as well
  if ((first_bytes & 0xff) == 0x80 && protocol >= 2 && protocol <= 5)
    throw IoError(text("a pickle, as old versions of torch.save write (.pt), not safetensors; ", kConversion));
}

using Entry = detail::SafetensorsEntry;

Tensor read_tensor(const InputFile& file, uint64_t data_begin, const Entry& entry) {
  Tensor out = empty(entry.shape, entry.dtype);
  const size_t bytes = static_cast<size_t>(entry.end - entry.begin);
  file.read(data_begin + entry.begin, internal::raw(out), bytes);
  return out;
}

/// The checked content of a file; `tensor_of(file, data_begin)` returns what makes the tensor of an entry.
template <class F> StateDict load(const std::string& path, Metadata* metadata, const F& tensor_of) {
  return detail::with_path(path, [&] {
    const InputFile file(path);
    if (file.size() < kLengthBytes) throw IoError(text(file.size(), " bytes, too short for the length of a header"));
    uint64_t length = 0;
    file.read(0, &length, sizeof(length));
    refuse_other_formats(length);
    if (length > detail::kMaxSafetensorsHeader)
      throw IoError(text("not a safetensors file, or a damaged one: a header of ", length, " bytes; the format allows ",
                         detail::kMaxSafetensorsHeader));
    if (length > file.size() - kLengthBytes)
      throw IoError(text("a header of ", length, " bytes in a file of ", file.size()));
    std::string json(static_cast<size_t>(length), '\0');
    file.read(kLengthBytes, json.data(), json.size());
    const uint64_t data_begin = kLengthBytes + length;
    detail::SafetensorsHeader header = detail::parse_safetensors_header(json, file.size() - data_begin);
    StateDict tensors;
    const auto make = tensor_of(file, data_begin);
    for (const Entry& entry : header.entries) {
      const Tensor& tensor = tensors.emplace(entry.name, make(entry)).first->second;
      if (entry.dtype == DType::boolean) detail::check_bools(tensor);
    }
    if (metadata != nullptr) *metadata = std::move(header.metadata);
    return tensors;
  });
}

/// The entries in the format's own order: widest dtype first, then by name (the order of a StateDict).
std::vector<Entry> lay_out(const StateDict& tensors) {
  std::vector<Entry> entries;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) throw IoError(text("tensor ", detail::shown(name), " is undefined"));
    entries.push_back({name, tensor.dtype(), tensor.shape()});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return size_of(a.dtype) > size_of(b.dtype); });
  uint64_t position = 0;
  for (Entry& entry : entries) {
    entry.begin = position;
    position += static_cast<uint64_t>(checked_numel(entry.shape)) * size_of(entry.dtype);
    entry.end = position;
  }
  return entries;
}

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  detail::with_path(path, [&] {
    const detail::SafetensorsHeader header = {lay_out(tensors), metadata};
    const std::string json = detail::write_safetensors_header(header);
    AtomicFile file(path);
    const uint64_t length = json.size();
    file.write(&length, sizeof(length));
    file.write(json);
    for (const Entry& entry : header.entries) {
      const Tensor rows = internal::host_row_major(tensors.at(entry.name));
      file.write(detail::row_major_bytes(rows));
    }
    file.commit();
  });
}

StateDict load_safetensors(const std::string& path, Metadata* metadata) {
  return load(path, metadata, [](const InputFile& file, uint64_t data_begin) {
    return [&file, data_begin](const Entry& entry) { return read_tensor(file, data_begin, entry); };
  });
}

StateDict map_safetensors(const std::string& path, Metadata* metadata) {
  return load(path, metadata, [](const InputFile& file, uint64_t data_begin) {
    return [&file, data_begin, mapped = MappedFile::of(file)](const Entry& entry) {
      const uint64_t offset = data_begin + entry.begin;
      if (entry.begin == entry.end || offset % size_of(entry.dtype) != 0) return read_tensor(file, data_begin, entry);
      return mapped->tensor(offset, entry.shape, entry.dtype);
    };
  });
}

}  // namespace weft::io
