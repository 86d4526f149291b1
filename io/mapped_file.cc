#include "io/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "tensor/core/error.h"

namespace weft::io {

std::shared_ptr<MappedFile> MappedFile::of(const InputFile& file) {
  void* const data =
      mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
  if (data == MAP_FAILED)
    throw MemoryError(text("cannot map ", file.size(), " bytes: ", std::generic_category().message(errno)));
  std::unique_ptr<MappedFile> mapped;
  try {
    mapped.reset(new MappedFile(data, file.size()));
  } catch (...) {
    munmap(data, file.size());
    throw;
  }
  return mapped;
}

MappedFile::~MappedFile() { munmap(data_, size_); }

Tensor MappedFile::tensor(uint64_t offset, const Shape& shape, DType dtype) {
  const View view = View::contiguous(shape);
  const size_t bytes = static_cast<size_t>(view.numel()) * size_of(dtype);
  auto keeper = std::make_unique<std::shared_ptr<MappedFile>>(shared_from_this());
  const auto release = [](void* context) { delete static_cast<std::shared_ptr<MappedFile>*>(context); };
  return internal::make_tensor(Storage::wrap(static_cast<char*>(data_) + offset, bytes, release, keeper.release()),
                               view, dtype);
}

}  // namespace weft::io
