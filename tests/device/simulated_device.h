// A device made of the host: its memory cannot be touched by the host between kernels (mprotect), and its kernels run
// on a thread of their own, later and in order. It proves, on machines without accelerators, that nothing but kernels
// looks at a tensor's memory, and that descriptors can be run from their erased form.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tensor/dispatch/backend.h"

namespace weft::testing {

class SimulatedDevice final : public Backend {
 public:
  /// Registers itself as the backend of Device::extension(0) and (1).
  SimulatedDevice();
  ~SimulatedDevice() override;

  int count() const override { return 2; }
  void* allocate(int index, size_t bytes) override;
  void free(int index, void* memory, size_t bytes) noexcept override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes) override;
  void run(int index, const OpInfo& info, const void* op, Operands in, Operands out) override;

  /// Waits until everything that was enqueued ran, and throws the first error of it.
  void synchronize();
  /// The kernel of this op is missing from now on.
  void remove_kernel(std::string_view name) { missing_.insert(name); }
  int64_t kernels_run() const { return kernels_; }
  size_t live_blocks() const;

 private:
  void enqueue(std::function<void()> task);
  void work();
  /// Opens the blocks that hold these addresses for the host, or closes them.
  void protect(const std::vector<void*>& addresses, int protection);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false, stop_ = false;
  std::exception_ptr error_;
  std::map<void*, size_t> blocks_;  // mapped bytes
  std::set<std::string_view> missing_;
  int64_t kernels_ = 0;
  std::thread thread_;
};

/// The one of this process, made when first asked for.
SimulatedDevice& simulated_device();

}  // namespace weft::testing
