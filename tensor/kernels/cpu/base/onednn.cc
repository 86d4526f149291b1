#include "tensor/kernels/cpu/base/onednn.h"

#ifdef _OPENMP
#include <omp.h>
#else
// oneDNN brings its runtime also where weft's own loops are serial.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);
#endif

#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/primitive_cache.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/runtime/parallel.h"

static_assert(DNNL_VERSION_MAJOR == 2, "this shim is written for oneDNN 2.x, whose operation descriptors 3.0 removed");

namespace weft::kernels::cpu::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;

/// oneDNN takes omp_get_max_threads() of the calling thread when it makes a primitive and when it runs one; while alive,
/// that is what weft allows here (1 on a serial thread). Inside of a parallel region both must be 1: a primitive made for
/// two threads would wait for the second for ever.
class ThreadScope {
 public:
  ThreadScope() : ThreadScope(region_threads()) {}
  template <class T>
  ThreadScope(const Matrix<const T>& a, const Matrix<const T>& b) : ThreadScope(product_threads(a, b)) {}
  ~ThreadScope() {
    if (threads_ != previous_) omp_set_num_threads(previous_);
  }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  int threads() const { return threads_; }

 private:
  explicit ThreadScope(int threads) : threads_(threads), previous_(omp_get_max_threads()) {
    if (threads_ != previous_) omp_set_num_threads(threads_);
  }
  int threads_, previous_;
};

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  thread_local dnnl::stream local(engine());
  return local;
}
/// Scratchpads belong to the caller: oneDNN's own are not safe when two threads run one primitive.
dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// What a primitive is cached under, first of all.
enum Kind : int64_t { kBf16Gemm = 1, kForward, kData, kWeights, kBiasedGemm };

/// oneDNN's reference kernels are correct and a hundred times slower than anything else.
bool is_slow(const char* implementation) {
  return std::string_view(implementation).substr(0, 3) == "ref" ||
         std::string_view(implementation).substr(0, 4) == "gemm";
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
           std::vector<std::pair<int, memory::desc>> operands)
      : primitive(made), implementation(descriptor.impl_info_str()), keeps(std::make_shared<Descriptor>(descriptor)) {
    const memory::desc scratch = descriptor.scratchpad_desc();
    scratch_bytes = scratch.get_size();
    if (scratch_bytes != 0) operands.emplace_back(DNNL_ARG_SCRATCHPAD, scratch);
    for (const auto& [id, desc] : operands) {
      memories.emplace_back(desc, engine(), nullptr);
      arguments.push_back({id, memories.back().get()});
    }
  }
  explicit operator bool() const { return static_cast<bool>(primitive); }

  void run(std::initializer_list<const void*> handles) {
    Scratch<char> scratch(static_cast<int64_t>(scratch_bytes));
    size_t i = 0;
    for (const void* handle : handles) set(i++, handle);
    if (scratch_bytes != 0) set(i, scratch.data());
    check(
        dnnl_primitive_execute(primitive.get(), stream().get(), static_cast<int>(arguments.size()), arguments.data()));
  }

 private:
  void set(size_t i, const void* handle) {
    check(dnnl_memory_set_data_handle_v2(arguments[i].memory, const_cast<void*>(handle), stream().get()));
  }
  static void check(dnnl_status_t status) {
    if (status != dnnl_success) throw Error(text("oneDNN failed with status ", static_cast<int>(status)));
  }
};

/// A convolution with the reorder of its weight from or to the user's strides, where they differ.
struct PreparedConv {
  Prepared conv, reorder;
  size_t weight_bytes = 0;
};

template <class Value> LruCache<PrimitiveKey, Value, PrimitiveKeyHash>& cache() {
  thread_local LruCache<PrimitiveKey, Value, PrimitiveKeyHash> local(kMostPrimitives);
  return local;
}

/// `make()`, or an empty value where oneDNN does not support what was asked for.
template <class Value, class Make> Value try_make(Make&& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw Error("out of memory in oneDNN");
    return {};
  }
}

}  // namespace

void sgemm(Matrix<const float> a, Matrix<const float> b, Matrix<float> c, bool accumulate) {
  const bool a_rows = a.column_stride == 1 && a.row_stride >= a.columns;
  const bool b_rows = b.column_stride == 1 && b.row_stride >= b.columns;
  const ThreadScope scope(a, b);
  const dnnl_status_t status =
      dnnl_sgemm(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', c.rows, c.columns, a.columns, 1.0f, a.data,
                 a_rows ? a.row_stride : a.column_stride, b.data, b_rows ? b.row_stride : b.column_stride,
                 accumulate ? 1.0f : 0.0f, c.data, c.row_stride);
  if (status != dnnl_success) throw Error(text("oneDNN's sgemm failed with status ", static_cast<int>(status)));
}

// Measured over 450 shapes at 1 and 2 threads: the primitive is up to 1.6 times faster where b is transposed (the weight of
// a linear layer), c is narrow, or the columns of a transposed a lie a power of two apart (sgemm's copies of them share few
// places of the caches). It is slower for single columns, few rows, short sums and large products (there by less than a
// bias of its own costs sgemm).
bool prefers_primitive(const Matrix<const float>& a, const Matrix<const float>& b, bool biased) {
  const bool a_rows = a.column_stride == 1, b_rows = b.column_stride == 1 && b.row_stride >= b.columns;
  if (b.columns == 1) return false;
  if (!a_rows) return b_rows && a.columns >= 512 && b.columns <= 512 && a.rows >= 1024 && a.column_stride % 512 == 0;
  if (b_rows) return a.rows >= 64 && b.columns <= 64;
  return a.rows >= 16 && a.columns >= 32 && (biased || a.rows < 1024 || b.columns < 1024);
}

bool biased_gemm(Matrix<const float> a, Matrix<const float> b, const float* bias, Matrix<float> c) {
  const ThreadScope scope(a, b);
  const PrimitiveKey key{{kBiasedGemm, scope.threads(), a.rows, a.columns, b.columns, a.row_stride, a.column_stride,
                          b.row_stride, b.column_stride, c.row_stride, c.column_stride, bias != nullptr}};
  Prepared& prepared = cache<Prepared>().find_or_make(key, [&] {
    return try_make<Prepared>([&] {
      const auto f32 = memory::data_type::f32;
      const memory::desc left({a.rows, a.columns}, f32, {a.row_stride, a.column_stride});
      const memory::desc right({b.rows, b.columns}, f32, {b.row_stride, b.column_stride});
      const memory::desc out({c.rows, c.columns}, f32, {c.row_stride, c.column_stride});
      const memory::desc row({1, c.columns}, f32, {c.columns, 1});
      const dnnl::matmul::primitive_desc pd =
          bias != nullptr ? dnnl::matmul::primitive_desc({left, right, row, out}, user_scratchpad(), engine())
                          : dnnl::matmul::primitive_desc({left, right, out}, user_scratchpad(), engine());
      if (is_slow(pd.impl_info_str())) return Prepared();
      std::vector<std::pair<int, memory::desc>> operands = {
          {DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, out}};
      if (bias != nullptr) operands.emplace_back(DNNL_ARG_BIAS, row);
      return Prepared(dnnl::matmul(pd), pd, operands);
    });
  });
  if (!prepared) return false;
  if (bias != nullptr)
    prepared.run({a.data, b.data, c.data, bias});
  else
    prepared.run({a.data, b.data, c.data});
  return true;
}

namespace {
/// Whether oneDNN takes all instructions of `wanted` on this CPU.
bool has_isa(int wanted) { return (static_cast<int>(dnnl::get_effective_cpu_isa()) & wanted) == wanted; }
}  // namespace

bool has_fast_bf16() {
  static const bool fast = has_isa(dnnl_cpu_isa_avx512_core_bf16);
  return fast;
}
bool has_amx() {
  static const bool amx = has_isa(dnnl_cpu_isa_avx512_core_amx);
  return amx;
}

bool bf16_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<BFloat16> c, bool accumulate,
               const BFloat16* bias) {
  if (!has_fast_bf16()) return false;
  // With AMX, oneDNN 2.6 sets up its tiles for sums of 63 wrongly: an illegal instruction, or wrong values.
  if (a.columns == 63) return false;
  const ThreadScope scope(a, b);
  const PrimitiveKey key{{kBf16Gemm, scope.threads(), a.rows, a.columns, b.columns, a.row_stride, a.column_stride,
                          b.row_stride, b.column_stride, c.row_stride, c.column_stride, accumulate, bias != nullptr}};
  Prepared& prepared = cache<Prepared>().find_or_make(key, [&] {
    return try_make<Prepared>([&] {
      const auto bf = memory::data_type::bf16;
      const memory::desc left({a.rows, a.columns}, bf, {a.row_stride, a.column_stride});
      const memory::desc right({b.rows, b.columns}, bf, {b.row_stride, b.column_stride});
      const memory::desc out({c.rows, c.columns}, bf, {c.row_stride, c.column_stride});
      dnnl::primitive_attr attr = user_scratchpad();
      if (accumulate) {
        dnnl::post_ops sum;
        sum.append_sum(1.0f);
        attr.set_post_ops(sum);
      }
      const memory::desc row({1, c.columns}, bf, {c.columns, 1});
      const dnnl::matmul::primitive_desc pd =
          bias != nullptr ? dnnl::matmul::primitive_desc({left, right, row, out}, attr, engine())
                          : dnnl::matmul::primitive_desc({left, right, out}, attr, engine());
      std::vector<std::pair<int, memory::desc>> operands = {
          {DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, out}};
      if (bias != nullptr) operands.emplace_back(DNNL_ARG_BIAS, row);
      return Prepared(dnnl::matmul(pd), pd, operands);
    });
  });
  if (!prepared) return false;
  if (bias != nullptr)
    prepared.run({a.data, b.data, c.data, bias});
  else
    prepared.run({a.data, b.data, c.data});
  return true;
}

namespace {

using DataType = memory::data_type;

PrimitiveKey conv_key(Kind kind, DataType type, int threads, const ConvShape& s, const WeightStrides& w, bool bias) {
  return {{kind | (bias ? 64 : 0) | (type == DataType::bf16 ? 128 : 0),
           threads,
           s.batch,
           s.channels,
           s.in[0],
           s.in[1],
           s.in[2],
           s.filters,
           s.kernel[0],
           s.kernel[1],
           s.kernel[2],
           s.stride[0],
           s.stride[1],
           s.stride[2],
           s.padding[0],
           s.padding[1],
           s.padding[2],
           s.dilation[0],
           s.dilation[1],
           s.dilation[2],
           s.groups,
           w[0],
           w[1],
           w[2],
           w[3],
           w[4],
           s.out[0],
           s.out[1],
           s.out[2]}};
}

/// Descriptors of x, weight (in the user's strides and in any layout), bias and out: with depth only where there is
/// some, since more kernels are made for two axes.
struct ConvDescriptors {
  memory::desc x, weight, any_weight, bias, out;
  Dims stride, dilation, padding;

  /// `library_weight`: the type of the weight in the layout that oneDNN chooses.
  ConvDescriptors(DataType type, DataType library_weight, const ConvShape& s, const WeightStrides& w) {
    const int first = s.is_flat() ? 1 : 0;
    const auto tag = s.is_flat() ? memory::format_tag::nhwc : memory::format_tag::ndhwc;
    Dims in{s.batch, s.channels}, to{s.batch, s.filters}, sizes{s.filters, s.channels / s.groups}, strides{w[0], w[1]};
    for (int i = first; i < 3; ++i) {
      in.push_back(s.in[i]);
      to.push_back(s.out[i]);
      sizes.push_back(s.kernel[i]);
      strides.push_back(w[static_cast<size_t>(i) + 2]);
    }
    x = memory::desc(in, type, tag);
    out = memory::desc(to, type, tag);
    bias = memory::desc({s.filters}, DataType::f32, memory::format_tag::a);
    if (s.groups > 1) {
      sizes[0] /= s.groups;
      sizes.insert(sizes.begin(), s.groups);
      strides.insert(strides.begin(), w[0] * (s.filters / s.groups));
    }
    weight = memory::desc(sizes, type, strides);
    any_weight = memory::desc(sizes, library_weight, memory::format_tag::any);
    for (int i = first; i < 3; ++i) {
      stride.push_back(s.stride[i]);
      dilation.push_back(s.dilation[i] - 1);
      padding.push_back(s.padding[i]);
    }
  }
  dnnl::convolution_forward::primitive_desc forward(bool with_bias) const {
    const auto training = dnnl::prop_kind::forward_training;
    const auto direct = dnnl::algorithm::convolution_direct;
    const auto desc = with_bias ? dnnl::convolution_forward::desc(training, direct, x, any_weight, bias, out, stride,
                                                                  dilation, padding, padding)
                                : dnnl::convolution_forward::desc(training, direct, x, any_weight, out, stride,
                                                                  dilation, padding, padding);
    return {desc, user_scratchpad(), engine()};
  }
};

Prepared prepared_reorder(const memory::desc& from, const memory::desc& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, user_scratchpad());
  return Prepared(dnnl::reorder(pd), pd, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

/// Slow for a convolution: also products group by group (a second for what the depthwise loops do in milliseconds).
bool is_slow_conv(const ConvShape& s, const char* name) {
  return is_slow(name) || (s.groups > 1 && std::string_view(name).find("gemm:") != std::string_view::npos);
}

PreparedConv make_forward(DataType type, const ConvShape& s, const WeightStrides& w, bool with_bias) {
  const ConvDescriptors d(type, type, s, w);
  const auto pd = d.forward(with_bias);
  if (is_slow_conv(s, pd.impl_info_str())) return {};
  std::vector<std::pair<int, memory::desc>> operands = {
      {DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, d.out}};
  if (with_bias) operands.emplace_back(DNNL_ARG_BIAS, d.bias);
  return {Prepared(dnnl::convolution_forward(pd), pd, operands), prepared_reorder(d.weight, pd.weights_desc()),
          pd.weights_desc().get_size()};
}

PreparedConv make_backward_data(DataType type, const ConvShape& s, const WeightStrides& w) {
  const ConvDescriptors d(type, type, s, w);
  const dnnl::convolution_backward_data::primitive_desc pd(
      {dnnl::algorithm::convolution_direct, d.x, d.any_weight, d.out, d.stride, d.dilation, d.padding, d.padding},
      user_scratchpad(), engine(), d.forward(false));
  if (is_slow_conv(s, pd.impl_info_str())) return {};
  return {Prepared(dnnl::convolution_backward_data(pd), pd,
                   {{DNNL_ARG_DIFF_DST, d.out}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DIFF_SRC, d.x}}),
          prepared_reorder(d.weight, pd.weights_desc()), pd.weights_desc().get_size()};
}

PreparedConv make_backward_weights(DataType type, const ConvShape& s, const WeightStrides& w) {
  const ConvDescriptors d(type, type, s, w);
  // Summed in f32 over all images, rounded once.
  const ConvDescriptors sums(type, DataType::f32, s, w);
  const dnnl::convolution_backward_weights::primitive_desc pd(
      {dnnl::algorithm::convolution_direct, d.x, sums.any_weight, d.out, d.stride, d.dilation, d.padding, d.padding},
      user_scratchpad(), engine(), d.forward(false));
  if (is_slow_conv(s, pd.impl_info_str())) return {};
  return {Prepared(dnnl::convolution_backward_weights(pd), pd,
                   {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_DIFF_DST, d.out}, {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()}}),
          prepared_reorder(pd.diff_weights_desc(), d.weight), pd.diff_weights_desc().get_size()};
}

PreparedConv& find_conv(Kind kind, DataType type, int threads, const ConvShape& s, const WeightStrides& w, bool bias) {
  return cache<PreparedConv>().find_or_make(conv_key(kind, type, threads, s, w, bias), [&] {
    return try_make<PreparedConv>([&] {
      return kind == kForward ? make_forward(type, s, w, bias)
             : kind == kData  ? make_backward_data(type, s, w)
                              : make_backward_weights(type, s, w);
    });
  });
}

template <class T> inline constexpr DataType kTypeOf = std::is_same_v<T, float> ? DataType::f32 : DataType::bf16;

}  // namespace

template <class T>
bool conv_forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const float* bias, T* out) {
  ThreadScope scope;
  PreparedConv& prepared = find_conv(kForward, kTypeOf<T>, scope.threads(), s, strides, bias != nullptr);
  if (!prepared.conv) return false;
  Scratch<char> reordered(prepared.reorder ? static_cast<int64_t>(prepared.weight_bytes) : 0);
  if (prepared.reorder) prepared.reorder.run({w, reordered.data()});
  const void* weight = prepared.reorder ? static_cast<const void*>(reordered.data()) : w;
  if (bias != nullptr)
    prepared.conv.run({x, weight, out, bias});
  else
    prepared.conv.run({x, weight, out});
  return true;
}

template <class T>
bool conv_backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x) {
  ThreadScope scope;
  PreparedConv& prepared = find_conv(kData, kTypeOf<T>, scope.threads(), s, strides, false);
  if (!prepared.conv) return false;
  Scratch<char> reordered(prepared.reorder ? static_cast<int64_t>(prepared.weight_bytes) : 0);
  if (prepared.reorder) prepared.reorder.run({w, reordered.data()});
  prepared.conv.run({grad, prepared.reorder ? static_cast<const void*>(reordered.data()) : w, grad_x});
  return true;
}

template <class T>
bool conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_w, const WeightStrides& strides) {
  ThreadScope scope;
  PreparedConv& prepared = find_conv(kWeights, kTypeOf<T>, scope.threads(), s, strides, false);
  if (!prepared.conv) return false;
  Scratch<char> blocked(prepared.reorder ? static_cast<int64_t>(prepared.weight_bytes) : 0);
  prepared.conv.run({x, grad, prepared.reorder ? static_cast<void*>(blocked.data()) : grad_w});
  if (prepared.reorder) prepared.reorder.run({blocked.data(), grad_w});
  return true;
}

#define WEFT_CONV(T)                                                                                        \
  template bool conv_forward(const ConvShape&, const T*, const T*, const WeightStrides&, const float*, T*); \
  template bool conv_backward_data(const ConvShape&, const T*, const T*, const WeightStrides&, T*);         \
  template bool conv_backward_weights(const ConvShape&, const T*, const T*, T*, const WeightStrides&);
WEFT_CONV(float)
WEFT_CONV(BFloat16)
#undef WEFT_CONV

std::array<const char*, 3> conv_implementations(const ConvShape& s, const WeightStrides& strides) {
  ThreadScope scope;
  std::array<const char*, 3> names;
  for (size_t i = 0; i < 3; ++i)
    names[i] = find_conv(static_cast<Kind>(kForward + static_cast<int64_t>(i)), DataType::f32, scope.threads(), s,
                         strides, false)
                   .conv.implementation;
  return names;
}

}  // namespace weft::kernels::cpu::onednn
