#include "tensor/kernels/cpu/base/onednn_primitive.h"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifdef _OPENMP
#include <omp.h>
#else
// oneDNN brings its runtime also where weft's own loops are serial.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);
extern "C" int omp_get_dynamic();
extern "C" void omp_set_dynamic(int on);
#endif

#include "tensor/runtime/parallel.h"
#include "tensor/runtime/thread_object.h"

namespace weft::kernels::cpu::onednn {
namespace {

void check(dnnl_status_t status) {
  if (status != dnnl_success) throw Error(text("oneDNN failed with status ", static_cast<int>(status)));
}

/// Whether oneDNN takes all instructions of `wanted` on this CPU.
bool has_isa(int wanted) { return (static_cast<int>(dnnl::get_effective_cpu_isa()) & wanted) == wanted; }

/// Whether vdpbf16ps does a register in two cycles on one port, where f32's instructions do two in one. So it is on
/// Intel's CPUs from the generation that has AMX beside it, and AVX512_FP16; a hypervisor may hide AMX.
bool has_slow_dot() {
#if defined(__x86_64__)
  constexpr unsigned kFp16 = 1u << 23;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_is("intel") != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kFp16) != 0;
#else
  return false;
#endif
}

}  // namespace

ThreadScope::ThreadScope() : ThreadScope(region_threads()) {}
ThreadScope::ThreadScope(int threads)
    : threads_(threads), previous_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
  if (threads_ != previous_) omp_set_num_threads(threads_);
  if (dynamic_ != 0) omp_set_dynamic(0);
}
ThreadScope::~ThreadScope() {
  if (threads_ != previous_) omp_set_num_threads(previous_);
  if (dynamic_ != 0) omp_set_dynamic(dynamic_);
}

dnnl::engine& engine() {
  static dnnl::engine& cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);  // static destructors may still compute
  return cpu;
}
dnnl::stream& stream() {
  return weft::detail::thread_object<dnnl::stream>([] { return dnnl::stream(engine()); });
}
dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

void check_room() {
  constexpr size_t kBytes = size_t{16} << 20;
  void* const room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw MemoryError(text("out of memory: oneDNN's code may take ", kBytes >> 20, " MB"));
  munmap(room, kBytes);
}

void Prepared::add(int id, const memory::desc& desc) {
  memories.emplace_back(desc, engine(), nullptr);
  arguments.push_back({id, memories.back().get()});
}
void Prepared::set(size_t i, const void* handle) {
  check(dnnl_memory_set_data_handle_v2(arguments[i].memory, const_cast<void*>(handle), stream().get()));
}
void Prepared::run(std::initializer_list<const void*> handles) {
  Scratch<char> scratch(static_cast<int64_t>(scratch_bytes));
  size_t i = 0;
  for (const void* handle : handles) set(i++, handle);
  if (scratch_bytes != 0) set(i, scratch.data());
  check(dnnl_primitive_execute(primitive.get(), stream().get(), static_cast<int>(arguments.size()), arguments.data()));
}

bool has_bf16() {
  static const bool here = has_isa(dnnl_cpu_isa_avx512_core_bf16);
  return here;
}
bool has_fast_bf16() {
  static const bool fast = has_amx() || (has_bf16() && !has_slow_dot());
  return fast;
}
bool has_amx() {
  static const bool amx = has_isa(dnnl_cpu_isa_avx512_core_amx);
  return amx;
}

}  // namespace weft::kernels::cpu::onednn
