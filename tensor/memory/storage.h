// Storage: the memory behind tensors. Reference-counted, 64-byte aligned, from the caching allocator, with a version
// that every write in place raises and that all views share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/core/device.h"
#include "tensor/core/intrusive.h"

namespace weft {

class Storage final : public RefCounted {
 public:
  /// Uninitialized memory of `bytes` (0 is legal). MemoryError where there is not enough, DeviceError where the device
  /// has no backend.
  static IntrusivePtr<Storage> allocate(size_t bytes, Device device = {});
  /// Borrows foreign memory; `release(context)` runs when the last view is gone (may be null), or at once where this
  /// throws: Error for a null pointer with bytes > 0.
  static IntrusivePtr<Storage> wrap(void* data, size_t bytes, void (*release)(void*), void* context);

  void* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  /// Whether the memory is a user's (wrap).
  bool is_borrowed() const noexcept { return borrowed_; }
  /// Notes that a user has the address (data<T>()).
  void hand_out() noexcept {
    if (!may_change_unseen()) __atomic_store_n(&handed_out_, true, __ATOMIC_RELAXED);
  }
  /// Whether the memory may be written without a new version, as code outside of weft has its address.
  bool may_change_unseen() const noexcept { return borrowed_ || __atomic_load_n(&handed_out_, __ATOMIC_RELAXED); }

  /// Counts writes in place.
  uint64_t version() const noexcept { return version_; }
  /// The op that wrote last (a static string); null where nothing did.
  const char* writer() const noexcept { return writer_; }
  void written_by(const char* op) noexcept {
    ++version_;
    writer_ = op;
  }
  /// The version that the last write which autograd recorded produced; 0 where none did.
  uint64_t recorded_version() const noexcept { return recorded_version_; }
  void set_recorded_version(uint64_t version) noexcept { recorded_version_ = version; }

 private:
  friend void destroy(Storage* storage) noexcept;
  Storage() = default;
  static IntrusivePtr<Storage> allocate_on(size_t bytes, Device device);
  ~Storage() = default;

  // The small members sit in what the reference count leaves of its 8 bytes: a header of one cache line.
  Device device_;
  bool borrowed_ = false;
  bool handed_out_ = false;  // threads that read one tensor may set it at the same time
  void* data_ = nullptr;
  size_t bytes_ = 0;
  uint64_t version_ = 0;
  uint64_t recorded_version_ = 0;
  const char* writer_ = nullptr;
  void (*release_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace weft
