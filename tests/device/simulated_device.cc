#include "tests/device/simulated_device.h"

#include <sys/mman.h>

#include <cstring>

#include "tensor/core/error.h"
#include "tensor/dispatch/any_op.h"

namespace weft::testing {
namespace {

constexpr size_t kPage = 4096;

size_t pages(size_t bytes) { return (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage; }

/// An operand whose view lives as long as the task.
struct KeptOperand {
  explicit KeptOperand(const Operand& x) : operand(x), view(x.defined() ? *x.view : View::contiguous({})) {}
  Operand get() const {
    Operand out = operand;
    if (operand.defined()) out.view = &view;
    out.device = {};  // the CPU kernel runs on it
    return out;
  }
  Operand operand;
  View view;
};

std::vector<KeptOperand> kept(Operands list) { return {list.begin(), list.end()}; }

std::vector<Operand> operands(const std::vector<KeptOperand>& list) {
  std::vector<Operand> out;
  for (const KeptOperand& x : list) out.push_back(x.get());
  return out;
}

}  // namespace

SimulatedDevice::SimulatedDevice() : thread_([this] { work(); }) { register_backend(DeviceKind::extension, this); }

SimulatedDevice::~SimulatedDevice() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  register_backend(DeviceKind::extension, nullptr);
}

void* SimulatedDevice::allocate(int, size_t bytes) {
  void* const memory = mmap(nullptr, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::lock_guard lock(mutex_);
  blocks_[memory] = pages(bytes);
  return memory;
}

void SimulatedDevice::free(int, void* memory, size_t) noexcept {
  enqueue([this, memory] {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(memory);
    munmap(memory, found->second);
    blocks_.erase(found);
  });
}

void SimulatedDevice::copy_from_host(int, void* to, const void* host, size_t bytes) {
  enqueue([=, this] {
    protect({to}, PROT_READ | PROT_WRITE);
    std::memcpy(to, host, bytes);
    protect({to}, PROT_NONE);
  });
  synchronize();
}

void SimulatedDevice::copy_to_host(int, void* host, const void* from, size_t bytes) {
  void* const source = const_cast<void*>(from);
  enqueue([=, this] {
    protect({source}, PROT_READ);
    std::memcpy(host, from, bytes);
    protect({source}, PROT_NONE);
  });
  synchronize();
}

void SimulatedDevice::run(int, const OpInfo& info, const void* op, Operands in, Operands out) {
  if (missing_.contains(info.name))
    throw DeviceError(text(info.name, " has no kernel on ", name_of(Device::extension(0))));
  enqueue([this, &info, kept_op = AnyOp(info, op), inputs = kept(in), outputs = kept(out)] {
    std::vector<void*> addresses;
    for (const std::vector<KeptOperand>* list : {&inputs, &outputs})
      for (const KeptOperand& x : *list)
        if (x.operand.defined()) addresses.push_back(x.operand.base);
    protect(addresses, PROT_READ | PROT_WRITE);
    try {
      info.run[0](kept_op.get(), operands(inputs), operands(outputs));
    } catch (...) {
      protect(addresses, PROT_NONE);
      throw;
    }
    protect(addresses, PROT_NONE);
    ++kernels_;
  });
}

void SimulatedDevice::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty() && !busy_; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

size_t SimulatedDevice::live_blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

void SimulatedDevice::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void SimulatedDevice::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !tasks_.empty() || stop_; });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    task = nullptr;
    lock.lock();
    if (error && !error_) error_ = error;
    busy_ = false;
    changed_.notify_all();
  }
}

void SimulatedDevice::protect(const std::vector<void*>& addresses, int protection) {
  const std::lock_guard lock(mutex_);
  for (void* address : addresses) {
    const auto block = std::prev(blocks_.upper_bound(address));
    if (mprotect(block->first, block->second, protection) != 0) throw Error("mprotect failed");
  }
}

SimulatedDevice& simulated_device() {
  static SimulatedDevice* const device = new SimulatedDevice;  // lives as long as the process: tensors may outlive main
  return *device;
}

}  // namespace weft::testing
