#include "tensor/memory/storage.h"

#include <new>

#include "tensor/core/error.h"
#include "tensor/memory/allocator.h"
#include "tensor/memory/device_memory.h"

namespace weft {

namespace {

/// Data up to this size shares one block with its header: a small tensor costs one allocation.
constexpr size_t kSharedBytes = 1024;
static_assert(sizeof(Storage) <= 64);  // the header takes one cache line, and data behind it stays aligned
constexpr size_t kHeaderBytes = 64;

}  // namespace

IntrusivePtr<Storage> Storage::allocate_on(size_t bytes, Device device) {
  void* const memory = detail::allocate_device_block(device, bytes);
  void* header = nullptr;
  try {
    header = detail::allocate_object(sizeof(Storage));
  } catch (...) {
    detail::free_device_block(device, memory, bytes);
    throw;
  }
  auto* storage = new (header) Storage;
  storage->data_ = memory;
  storage->bytes_ = bytes;
  storage->device_ = device;
  return IntrusivePtr<Storage>::adopt(storage);
}

IntrusivePtr<Storage> Storage::allocate(size_t bytes, Device device) {
  if (!device.is_cpu()) return allocate_on(bytes, device);
  const bool shared = bytes <= kSharedBytes;
  void* memory = shared ? detail::allocate_block(kHeaderBytes + bytes) : detail::allocate_block(bytes);
  void* header = memory;
  if (!shared) {
    try {
      header = detail::allocate_object(sizeof(Storage));
    } catch (...) {
      detail::free_block(memory, bytes);
      throw;
    }
  }
  auto* storage = new (header) Storage;
  storage->data_ = shared ? static_cast<char*>(memory) + kHeaderBytes : memory;
  storage->bytes_ = bytes;
  return IntrusivePtr<Storage>::adopt(storage);
}

IntrusivePtr<Storage> Storage::wrap(void* data, size_t bytes, void (*release)(void*), void* context) {
  void* header = nullptr;
  try {
    if (data == nullptr && bytes > 0) throw Error(text("cannot wrap a null pointer as ", bytes, " bytes"));
    header = detail::allocate_object(sizeof(Storage));
  } catch (...) {
    if (release != nullptr)
      release(context);  // as with shared_ptr: a caller that passes a deleter has passed the memory
    throw;
  }
  auto* storage = new (header) Storage;
  storage->data_ = data;
  storage->bytes_ = bytes;
  storage->release_ = release;
  storage->context_ = context;
  storage->borrowed_ = true;
  return IntrusivePtr<Storage>::adopt(storage);
}

void destroy(Storage* storage) noexcept {
  void* const data = storage->data_;
  const size_t bytes = storage->bytes_;
  const bool borrowed = storage->borrowed_;
  const Device device = storage->device_;
  const auto release = storage->release_;
  void* const context = storage->context_;
  storage->~Storage();
  if (!device.is_cpu()) {
    detail::free_object(storage, sizeof(Storage));
    return detail::free_device_block(device, data, bytes);
  }
  if (!borrowed && bytes <= kSharedBytes) return detail::free_block(storage, kHeaderBytes + bytes);
  detail::free_object(storage, sizeof(Storage));
  if (!borrowed) return detail::free_block(data, bytes);
  if (release != nullptr) release(context);
}

}  // namespace weft
