// A file in memory without reading it: the system loads each page when it is first used.
#pragma once

#include <cstdint>
#include <memory>

#include "io/file.h"
#include "tensor/tensor.h"

namespace weft::io {

/// The bytes of a file, mapped privately: writes change the memory and never the file. It outlives the InputFile.
class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  /// MemoryError if the system does not map the file.
  static std::shared_ptr<MappedFile> of(const InputFile& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The row-major tensor at `offset`, which keeps the mapping alive. `offset` is a multiple of the dtype's size, and
  /// the tensor ends inside of the file.
  Tensor tensor(uint64_t offset, const Shape& shape, DType dtype);

 private:
  MappedFile(void* data, uint64_t size) : data_(data), size_(size) {}
  void* data_;
  uint64_t size_;
};

}  // namespace weft::io
