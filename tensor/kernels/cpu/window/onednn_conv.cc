#include "tensor/kernels/cpu/window/onednn_conv.h"

#include <algorithm>
#include <atomic>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/onednn_primitive.h"
#include "tensor/runtime/parallel.h"
#include "tensor/runtime/thread_object.h"

namespace weft::kernels::cpu::onednn {
namespace {

using Dims = memory::dims;

/// A convolution with the reorder of its weight from or to the user's strides, where they differ.
struct PreparedConv {
  Prepared conv, reorder;
  size_t weight_bytes = 0;
  int64_t layout = 0;  // layout_id() of the weight

  int64_t elements() const { return static_cast<int64_t>(weight_bytes / sizeof(float)); }  // of f32
};

/// Tells layouts of a weight of given sizes apart; never 0.
int64_t layout_id(const memory::desc& weight) {
  const dnnl_memory_desc_t& d = weight.data;
  const dnnl_blocking_desc_t& blocks = d.format_desc.blocking;
  PrimitiveKey key{{d.ndims, static_cast<int64_t>(d.extra.flags)}};
  size_t at = 2;
  for (int i = 0; i < d.ndims; ++i) key.words.at(at++) = d.padded_dims[i], key.words.at(at++) = blocks.strides[i];
  for (int i = 0; i < blocks.inner_nblks; ++i)
    key.words.at(at++) = blocks.inner_blks[i], key.words.at(at++) = blocks.inner_idxs[i];
  return static_cast<int64_t>(PrimitiveKeyHash()(key) | 1);
}

/// This thread's primitives of this file.
using Primitives = LruCache<PrimitiveKey, PreparedConv, PrimitiveKeyHash>;
Primitives& cache() {
  return weft::detail::thread_object<Primitives>([] { return Primitives(kMostPrimitives); });
}

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
          pd.weights_desc().get_size(), layout_id(pd.weights_desc())};
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
  return cache().find_or_make(conv_key(kind, type, threads, s, w, bias), [&] {
    return try_make<PreparedConv>([&] {
      return kind == kForward ? make_forward(type, s, w, bias)
             : kind == kData  ? make_backward_data(type, s, w)
                              : make_backward_weights(type, s, w);
    });
  });
}

/// oneDNN 2.6's bf16 kernel of 1 x 1 windows is wrong by more than the values for odd filters a group and some numbers
/// of pixels.
bool is_wrong_for_data(DataType type, const ConvShape& s) {
  return type == DataType::bf16 && s.taps() == 1 && s.group_filters() % 2 != 0;
}

/// oneDNN 2.6's AVX-512 kernel of weights' gradients of volumes reads uninitialized memory where the depth is strided,
/// padded by more than a stride and hardly longer than a window. The condition holds for a few sizes more than those.
bool is_wrong_for_weights_of_volumes(const ConvShape& s) {
  const int64_t window = (s.kernel[0] - 1) * s.dilation[0] + 1;
  return !s.is_flat() && s.stride[0] > 1 && s.padding[0] >= s.stride[0] && s.in[0] <= window + s.stride[0];
}

/// oneDNN 2.6's AVX-512 kernels of weights' gradients of strided 1 x 1 windows write beyond their scratchpad for fewer
/// than 16 channels, on two threads and more.
bool writes_beyond_scratchpad(const ConvShape& s) {
  return s.taps() == 1 && s.stride != Size3(1) && s.group_channels() < 16;
}

/// oneDNN 2.6's bf16 kernel of weights' gradients reads uninitialized memory where windows are dilated, and where along
/// some padded axis no window lies inside of the image.
bool is_wrong_for_weights(DataType type, const ConvShape& s) {
  if (is_wrong_for_weights_of_volumes(s) || writes_beyond_scratchpad(s)) return true;
  if (type != DataType::bf16) return false;
  if (s.dilation != Size3(1)) return true;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t first = ceil_div(s.padding[axis], s.stride[axis]);  // window that begins inside
    const int64_t end = first * s.stride[axis] - s.padding[axis] + s.kernel[axis];
    if (s.padding[axis] > 0 && (first >= s.out[axis] || end > s.in[axis])) return true;
  }
  return false;
}

/// oneDNN 2.6's bf16 kernels multiply channels in pairs, and the pixels of few channels together: the
/// value paired with an odd channel, and pixels next to a window, are multiplied by zeros, so that NaN and infinities
/// there give NaN.
bool meets_zeros(int64_t channels) { return channels % 2 != 0 || channels <= 4; }

/// oneDNN 2.6's bf16 kernels of weights' gradients multiply the results of a line in pairs: the value paired with the
/// last one of an odd number is zero, and so is multiplied what a further window, which reaches over the end of the
/// line, would read of the image. With padding the line begins elsewhere.
bool reads_beside_windows(const ConvShape& s) {
  return s.out[2] % 2 != 0 && (s.padding[2] > 0 || s.out[2] * s.stride[2] < s.in[2]);
}

/// oneDNN 2.6's bf16 forward kernel pairs the last odd channel of the last pixel with the value behind the images and
/// multiplies that by zero. (Seen from 33 channels on, with many taps.) Elements of a copy that zeros follow; none
/// where it is not needed.
int64_t elements_to_end(const ConvShape& s) {
  const bool reads_on = s.group_channels() % 2 != 0 && s.group_channels() > 16 && s.taps() > 1;
  return reads_on ? s.pixels() * s.channels : 0;
}

bool all_finite(const BFloat16* x, int64_t count) {
  std::atomic<bool> finite = true;
  parallel_for(count, 1 << 16, [&](int64_t begin, int64_t end) {
    constexpr int kExponent = 0x7f80;
    int largest = 0;
    for (int64_t i = begin; i < end; ++i) largest = std::max(largest, x[i].bits & kExponent);
    if (largest == kExponent) finite = false;
  });
  return finite;
}

template <class T> inline constexpr DataType kTypeOf = std::is_same_v<T, float> ? DataType::f32 : DataType::bf16;

}  // namespace

template <class T>
bool conv_forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const float* bias, T* out,
                  const PackedWeight& packed) {
  if constexpr (std::is_same_v<T, BFloat16>)
    if (meets_zeros(s.group_channels()) && !all_finite(x, s.pixels() * s.channels)) return false;
  const int64_t copied = std::is_same_v<T, BFloat16> ? elements_to_end(s) : 0;
  const Scratch<T> ended(copied > 0 ? copied + 2 : 0);
  if (copied > 0) {
    std::copy_n(x, copied, ended.data());
    std::fill_n(ended.data() + copied, 2, T(0.0f));
    x = ended.data();
  }
  ThreadScope scope;
  PreparedConv& prepared = find_conv(kForward, kTypeOf<T>, scope.threads(), s, strides, bias != nullptr);
  if (!prepared.conv) return false;
  // It may be of other images or threads, for which oneDNN chose another layout.
  const bool is_packed = prepared.reorder && packed.data != nullptr && packed.layout == prepared.layout &&
                         packed.elements == prepared.elements();
  const bool reorders = prepared.reorder && !is_packed;
  Scratch<char> reordered(reorders ? static_cast<int64_t>(prepared.weight_bytes) : 0);
  if (reorders) prepared.reorder.run({w, reordered.data()});
  const void* weight = reorders    ? static_cast<const void*>(reordered.data())
                       : is_packed ? static_cast<const void*>(packed.data)
                                   : w;
  if (bias != nullptr)
    prepared.conv.run({x, weight, out, bias});
  else
    prepared.conv.run({x, weight, out});
  return true;
}

template <class T>
bool conv_backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x) {
  if (is_wrong_for_data(kTypeOf<T>, s)) return false;
  if constexpr (std::is_same_v<T, BFloat16>)
    if (meets_zeros(s.group_filters()) && !all_finite(grad, s.out_pixels() * s.filters)) return false;
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
  if (is_wrong_for_weights(kTypeOf<T>, s)) return false;
  if constexpr (std::is_same_v<T, BFloat16>)
    if (reads_beside_windows(s) && !all_finite(x, s.pixels() * s.channels)) return false;
  ThreadScope scope;
  PreparedConv& prepared = find_conv(kWeights, kTypeOf<T>, scope.threads(), s, strides, false);
  if (!prepared.conv) return false;
  Scratch<char> blocked(prepared.reorder ? static_cast<int64_t>(prepared.weight_bytes) : 0);
  prepared.conv.run({x, grad, prepared.reorder ? static_cast<void*>(blocked.data()) : grad_w});
  if (prepared.reorder) prepared.reorder.run({blocked.data(), grad_w});
  return true;
}

#define WEFT_CONV(T)                                                                                       \
  template bool conv_forward(const ConvShape&, const T*, const T*, const WeightStrides&, const float*, T*, \
                             const PackedWeight&);                                                         \
  template bool conv_backward_data(const ConvShape&, const T*, const T*, const WeightStrides&, T*);        \
  template bool conv_backward_weights(const ConvShape&, const T*, const T*, T*, const WeightStrides&);
WEFT_CONV(float)
WEFT_CONV(BFloat16)
#undef WEFT_CONV

WeightLayout weight_layout(const ConvShape& s, const WeightStrides& strides) {
  ThreadScope scope;
  const PreparedConv& prepared = find_conv(kForward, DataType::f32, scope.threads(), s, strides, false);
  if (!prepared.conv || !prepared.reorder) return {};
  return {prepared.elements(), prepared.layout};
}

void pack_weight(const ConvShape& s, const float* w, const WeightStrides& strides, float* out) {
  ThreadScope scope;
  find_conv(kForward, DataType::f32, scope.threads(), s, strides, false).reorder.run({w, out});
}

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
