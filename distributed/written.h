// What collectives share: tensors as row-major memory, and what they wrote, noted for autograd.
#pragma once

#include <memory>
#include <vector>

#include "distributed/group.h"

namespace weft::distributed {

class Progressive;

/// The first byte of row-major memory.
std::byte* bytes_of(const Tensor& x);
int64_t byte_count(const Tensor& x);
/// Row-major memory of this machine with the values of x: x itself where it is that. Without history.
Tensor row_major(const Tensor& x);

/// Notes that `name` wrote to x: other tensors on its memory that have a history are refused from here on.
void was_written(const Tensor& x, const char* name);

/// Memory to write results for x to, with x's values.
class Written {
 public:
  /// GradientError where x may not be written to; `name` is the function that writes.
  Written(const Tensor& x, const char* name);
  const Tensor& memory() const { return memory_; }
  const Tensor& target() const { return x_; }
  /// Once it is written: x has the values.
  void finish();

 private:
  Tensor x_, memory_;
  const char* name_;
};

/// What ranks exchange while this one goes on, and must not be written meanwhile. A tensor that shows a part of its
/// memory is not watched: what is written may be another part.
class Watch {
 public:
  explicit Watch(const std::vector<Tensor>& tensors);
  /// Whether something was written since; its storage says what wrote last.
  const Tensor* written() const;

 private:
  std::vector<Tensor> tensors_;
  std::vector<uint64_t> versions_;
};

struct Work::State {
  std::shared_ptr<Communicator> group;
  std::shared_ptr<Progressive> work;
  std::shared_ptr<Written> written;  // null where the result is a tensor of its own
  Watch watch;
  bool waited = false;  // by one of the handles
  /// A call that uses `tensors`.
  static Work start(std::shared_ptr<Communicator> group, std::shared_ptr<Progressive> work, std::vector<Tensor> tensors,
                    std::shared_ptr<Written> written);
};

}  // namespace weft::distributed
