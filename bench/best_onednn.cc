#include "bench/best_onednn.h"

#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "bench/ceiling.h"
#include "tensor/core/half.h"

namespace weft::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;
constexpr auto kF32 = Type::f32, kBf16 = Type::bf16;

Type type_of(DType dtype) { return dtype == bf16 ? kBf16 : kF32; }

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  static dnnl::stream queue(engine());
  return queue;
}

/// Memory of the layout, with numbers in it (zeros and denormals would run at another speed).
memory filled(const memory::desc& desc) {
  memory out(desc, engine());
  if (desc.data_type() == kBf16)
    std::fill_n(static_cast<BFloat16*>(out.get_data_handle()), desc.get_size() / sizeof(BFloat16), BFloat16(0.5f));
  else
    std::fill_n(static_cast<float*>(out.get_data_handle()), desc.get_size() / sizeof(float), 0.5f);
  return out;
}

/// A primitive between memory that the caller has and memory that it wants, with reorders where these differ.
class Run {
 public:
  void input(int argument, const memory::desc& given, const memory::desc& wanted) {
    memory from = filled(given);
    if (given == wanted) {
      arguments_[argument] = from;
      return;
    }
    memory to = filled(wanted);
    before_.push_back({dnnl::reorder(from, to), from, to});
    arguments_[argument] = to;
  }
  void output(int argument, const memory::desc& wanted, const memory::desc& made) {
    memory from = filled(made);
    arguments_[argument] = from;
    if (made == wanted) return;
    memory to = filled(wanted);
    after_.push_back({dnnl::reorder(from, to), from, to});
  }
  void set(const dnnl::primitive& primitive) { primitive_ = primitive; }

  void operator()() {
    for (Reorder& r : before_) r.primitive.execute(stream(), r.from, r.to);
    primitive_.execute(stream(), arguments_);
    for (Reorder& r : after_) r.primitive.execute(stream(), r.from, r.to);
  }

 private:
  struct Reorder {
    dnnl::reorder primitive;
    memory from, to;
  };
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
  std::vector<Reorder> before_, after_;
};

/// A way of convolving: the layouts that are given, and those that the primitive is asked for.
struct Layouts {
  const char* name;
  Tag image, weight;              // of what is given and wanted back
  Tag asked_image, asked_weight;  // of the primitive
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
};

class ConvolutionRuns {
 public:
  ConvolutionRuns(const ConvSizes& s, const Layouts& layouts, Type type)
      : algorithm_(layouts.algorithm),
        x_({s.batch, s.channels, s.size, s.size}, type, layouts.image),
        w_({s.filters, s.channels, s.kernel, s.kernel}, type, layouts.weight),
        y_({s.batch, s.filters, s.out_size(), s.out_size()}, type, layouts.image),
        asked_x_(x_.dims(), type, layouts.asked_image),
        asked_w_(w_.dims(), type, layouts.asked_weight),
        asked_y_(y_.dims(), type, layouts.asked_image),
        stride_({s.stride, s.stride}),
        padding_({s.padding, s.padding}),
        forward_(
            {dnnl::prop_kind::forward_training, algorithm_, asked_x_, asked_w_, asked_y_, stride_, padding_, padding_},
            engine()) {}

  std::shared_ptr<Run> run(Direction direction) const {
    auto out = std::make_shared<Run>();
    if (direction == Direction::forward) {
      out->set(dnnl::convolution_forward(forward_));
      out->input(DNNL_ARG_SRC, x_, forward_.src_desc());
      out->input(DNNL_ARG_WEIGHTS, w_, forward_.weights_desc());
      out->output(DNNL_ARG_DST, y_, forward_.dst_desc());
    } else if (direction == Direction::backward_data) {
      const dnnl::convolution_backward_data::primitive_desc pd(
          {algorithm_, asked_x_, asked_w_, asked_y_, stride_, padding_, padding_}, engine(), forward_);
      out->set(dnnl::convolution_backward_data(pd));
      out->input(DNNL_ARG_DIFF_DST, y_, pd.diff_dst_desc());
      out->input(DNNL_ARG_WEIGHTS, w_, pd.weights_desc());
      out->output(DNNL_ARG_DIFF_SRC, x_, pd.diff_src_desc());
    } else {
      const dnnl::convolution_backward_weights::primitive_desc pd(
          {algorithm_, asked_x_, asked_w_, asked_y_, stride_, padding_, padding_}, engine(), forward_);
      out->set(dnnl::convolution_backward_weights(pd));
      out->input(DNNL_ARG_SRC, x_, pd.src_desc());
      out->input(DNNL_ARG_DIFF_DST, y_, pd.diff_dst_desc());
      out->output(DNNL_ARG_DIFF_WEIGHTS, w_, pd.diff_weights_desc());
    }
    return out;
  }

 private:
  dnnl::algorithm algorithm_;
  memory::desc x_, w_, y_, asked_x_, asked_w_, asked_y_;
  memory::dims stride_, padding_;
  dnnl::convolution_forward::primitive_desc forward_;
};

}  // namespace

std::vector<Way> conv_ways(const ConvSizes& sizes, Direction direction, DType dtype) {
  const Layouts all[] = {
      {"nchw", Tag::nchw, Tag::oihw, Tag::nchw, Tag::any},
      {"nhwc", Tag::nhwc, Tag::hwio, Tag::nhwc, Tag::any},
      {"nhwc around any", Tag::nhwc, Tag::hwio, Tag::any, Tag::any},
      {"nhwc around Winograd", Tag::nhwc, Tag::hwio, Tag::any, Tag::any, dnnl::algorithm::convolution_winograd}};
  std::vector<Way> ways;
  for (const Layouts& layouts : all) {
    try {
      const std::shared_ptr<Run> run = ConvolutionRuns(sizes, layouts, type_of(dtype)).run(direction);
      ways.push_back({layouts.name, [run] { (*run)(); }});
    } catch (const dnnl::error& error) {  // Winograd is for 3 x 3 windows of stride 1, AVX-512 and f32
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  return ways;
}

std::vector<Way> matmul_ways(int64_t batch, int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b,
                             DType dtype) {
  const auto desc = [batch, type = type_of(dtype)](int64_t rows, int64_t columns, bool transposed) {
    return memory::desc({batch, rows, columns}, type, transposed ? Tag::acb : Tag::abc);
  };
  const memory::desc a = desc(m, k, transpose_a), b = desc(k, n, transpose_b), c = desc(m, n, false);
  const auto primitive = std::make_shared<Run>();
  primitive->set(dnnl::matmul(dnnl::matmul::primitive_desc({a, b, c}, engine())));
  primitive->input(DNNL_ARG_SRC, a, a);
  primitive->input(DNNL_ARG_WEIGHTS, b, b);
  primitive->output(DNNL_ARG_DST, c, c);

  std::vector<Way> ways = {{"matmul primitive", [primitive] { (*primitive)(); }}};
  if (batch == 1 && dtype == f32) {
    const auto sgemm = std::make_shared<Sgemm>(m, n, k, transpose_a, transpose_b);
    ways.push_back({"sgemm", [sgemm] { (*sgemm)(); }});
  }
  return ways;
}

const Way& fastest(const std::vector<Way>& ways) {
  std::vector<std::vector<double>> times(ways.size());
  for (int turn = 0; turn < 5; ++turn)
    for (size_t i = 0; i < ways.size(); ++i) times[i].push_back(median_seconds(ways[i].run, 0.005));
  size_t best = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    std::nth_element(times[i].begin(), times[i].begin() + 2, times[i].end());
    if (times[i][2] < times[best][2]) best = i;
  }
  return ways[best];
}

}  // namespace weft::bench
