// What the files of oneDNN's shim share: engine, threads, and primitives with their scratchpad and memory objects.
#pragma once

#include <future>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/base/primitive_cache.h"
#include "tensor/kernels/cpu/base/scratch.h"

static_assert(DNNL_VERSION_MAJOR == 2, "this shim is written for oneDNN 2.x, whose operation descriptors 3.0 removed");

namespace weft::kernels::cpu::onednn {

using dnnl::memory;
using DataType = memory::data_type;

/// oneDNN takes omp_get_max_threads() of the calling thread when it makes a primitive and when it runs one; while
/// alive, that is what weft allows here (1 on a serial thread). Inside of a parallel region both must be 1: a primitive
/// made for two threads would wait for the second for ever, or leave the second's work undone. So OpenMP must not give
/// fewer threads than it is asked for either (OMP_DYNAMIC).
class ThreadScope {
 public:
  ThreadScope();
  explicit ThreadScope(int threads);
  template <class T>
  ThreadScope(const Matrix<const T>& a, const Matrix<const T>& b) : ThreadScope(product_threads(a, b)) {}
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  int threads() const { return threads_; }

 private:
  int threads_, previous_, dynamic_;
};

dnnl::engine& engine();
/// The calling thread's.
dnnl::stream& stream();
/// Scratchpads belong to the caller: oneDNN's own are not safe when two threads run one primitive.
dnnl::primitive_attr user_scratchpad();

/// What a primitive is cached under, first of all.
enum Kind : int64_t { kBf16Gemm = 1, kForward, kData, kWeights, kBiasedGemm };

/// oneDNN's reference kernels are correct and a hundred times slower than anything else.
inline bool is_slow(std::string_view implementation) {
  return implementation.substr(0, 3) == "ref" || implementation.substr(0, 4) == "gemm";
}

/// A primitive and this thread's memory objects for it.
struct Prepared {
  dnnl::primitive primitive;
  std::vector<memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
  size_t scratch_bytes = 0;
  const char* implementation = "-";  // lives as long as the primitive
  std::shared_ptr<void> keeps;

  Prepared() = default;
  template <class Descriptor>
  Prepared(const dnnl::primitive& made, const Descriptor& descriptor,
           const std::vector<std::pair<int, memory::desc>>& operands)
      : primitive(made), implementation(descriptor.impl_info_str()), keeps(std::make_shared<Descriptor>(descriptor)) {
    for (const auto& [id, desc] : operands) add(id, desc);
    const memory::desc scratch = descriptor.scratchpad_desc();
    scratch_bytes = scratch.get_size();
    if (scratch_bytes != 0) add(DNNL_ARG_SCRATCHPAD, scratch);
  }
  explicit operator bool() const { return static_cast<bool>(primitive); }

  /// With this memory for the operands, in their order.
  void run(std::initializer_list<const void*> handles);

 private:
  void add(int id, const memory::desc& desc);
  void set(size_t i, const void* handle);
};

/// MemoryError unless there is room for what oneDNN allocates for a primitive: code pages and small objects, whose
/// absence it does not check.
void check_room();

/// `make()`, or an empty value where oneDNN does not support the operation.
template <class Value, class Make> Value try_make(Make&& make) {
  check_room();
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw MemoryError("out of memory in oneDNN");
    return {};
  } catch (const std::future_error&) {
    // A broken promise: its cache keeps that making this primitive failed.
    throw MemoryError("oneDNN ran out of memory for this product or convolution before, and refuses it from then on");
  }
}

}  // namespace weft::kernels::cpu::onednn
