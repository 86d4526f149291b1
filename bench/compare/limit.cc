#include "bench/compare/limit.h"

namespace weft::bench {
namespace {

/// Adds up the work of a step, layer by layer, forward and backward. Products count their flops, as their operands stay
/// in the caches at best; all else counts the bytes that it reads and writes, where passes that can be one are one.
class Count {
 public:
  /// y (m, n) = x (m, k) w: y, the gradient of w and, unless x is data, that of x.
  void product(double m, double n, double k, bool data = false) { work_.flops += 2 * m * n * k * (data ? 2 : 3); }
  void parameters(double count, double bias = 0) { parameters_ += count + bias; }
  /// `streams` passes over `count` floats.
  void pass(double count, double streams) { work_.bytes += 4 * count * streams; }
  void activation(double count) { work_.working_set += 4 * count; }

  /// Linear with bias on `rows`.
  void linear(double rows, double in, double out, bool data = false, bool bias = true) {
    product(rows, out, in, data);
    parameters(in * out, bias ? out : 0);
    activation(rows * out);
  }
  /// Square kernel, `pixels` outputs over all images.
  void conv(double pixels, double in, double out, double kernel, bool data = false) {
    product(pixels, out, in * kernel * kernel, data);
    parameters(in * out * kernel * kernel);
    activation(pixels * out);
  }
  /// Batch norm with relu. Forward reads for the statistics, reads again and writes; backward reads gradient and input
  /// twice and writes; a residual is one more stream each way.
  void batch_norm(double pixels, double channels, bool residual = false) {
    pass(pixels * channels, residual ? 10 : 8);
    parameters(2 * channels);
    activation(pixels * channels);
  }
  /// Batch norm, relu and a pool of 2x2 in one pass: what is pooled is a quarter, and its places are bytes.
  void batch_norm_pool(double pixels, double channels) {
    pass(pixels * channels, 2 + 0.25 * 1.25 + 2 + 2 * 0.25 * 1.25 + 1);
    parameters(2 * channels);
    activation(pixels * channels / 4);
  }
  /// Forward reads and writes; backward reads gradient and input and writes.
  void elementwise(double count) { pass(count, 5); }

  /// SGD with momentum reads parameter, gradient and momentum, and writes two; AdamW reads four and writes three.
  Work sgd() { return with_optimizer(5, 3); }
  Work adamw() { return with_optimizer(7, 4); }

 private:
  Work with_optimizer(double streams, double tensors) {
    pass(parameters_, streams);
    work_.working_set += 4 * parameters_ * tensors;
    return work_;
  }
  Work work_;
  double parameters_ = 0;
};

Work mlp() {
  const double batch = 64;
  Count c;
  c.linear(batch, 784, 256, true);
  c.elementwise(batch * 256);
  c.linear(batch, 256, 10);
  return c.sgd();
}

Work cnn() {
  const double batch = 64, large = batch * 28 * 28, small = batch * 14 * 14;
  Count c;
  c.conv(large, 1, 16, 3, true);
  c.batch_norm_pool(large, 16);
  c.conv(small, 16, 32, 3);
  c.batch_norm_pool(small, 32);
  c.linear(batch, 1568, 10);
  return c.adamw();
}

Work resnet18(double batch, double image) {
  const double stem = batch * (image / 2) * (image / 2);
  Count c;
  c.conv(stem, 3, 64, 7, true);
  c.batch_norm(stem, 64);
  c.elementwise(stem * 64 / 2);  // the pool writes and reads a quarter of what it looks at
  double channels = 64, size = image / 4;
  for (int number = 0; number < 8; ++number) {
    const bool smaller = number == 2 || number == 4 || number == 6;
    const double out = 64 << (number / 2);
    if (smaller) size /= 2;
    const double pixels = batch * size * size;
    c.conv(pixels, channels, out, 3);
    c.batch_norm(pixels, out);
    c.conv(pixels, out, out, 3);
    c.batch_norm(pixels, out, true);
    if (smaller) {
      c.conv(pixels, channels, out, 1);
      c.batch_norm(pixels, out);
    }
    channels = out;
  }
  c.linear(batch, 512, 1000);
  return c.sgd();
}

Work gpt() {
  const double rows = 8 * 128, context = 128, width = 256, vocabulary = 256;
  Count c;
  c.parameters((vocabulary + context) * width);
  c.elementwise(rows * width);
  for (int layer = 0; layer < 6; ++layer) {
    c.linear(rows, width, 3 * width);
    c.product(rows, width, context);  // scores and values, of which the causal half is work
    c.linear(rows, width, width);
    c.linear(rows, width, 4 * width);
    c.elementwise(rows * 4 * width);
    c.linear(rows, 4 * width, width);
    for (int half = 0; half < 2; ++half) {  // norm and residual
      c.parameters(2 * width);
      c.elementwise(rows * width);
      c.elementwise(rows * width);
      c.activation(rows * width);
    }
  }
  c.elementwise(rows * width);
  c.linear(rows, width, vocabulary, false, false);
  c.elementwise(rows * vocabulary);
  c.parameters(2 * width);
  return c.adamw();
}

}  // namespace

Work work_of(const std::string& model) {
  if (model == "mlp") return mlp();
  if (model == "cnn") return cnn();
  if (model == "resnet18") return resnet18(16, 64);
  if (model == "resnet18_224") return resnet18(8, 224);
  return gpt();
}

double limit_ms(const Work& work, const Rates& rates) {
  if (rates.product <= 0 || rates.copy.empty()) return 0;
  auto copy = rates.copy.lower_bound(work.working_set);
  if (copy == rates.copy.end()) --copy;
  return 1e3 * (work.flops / rates.product + work.bytes / copy->second);
}

}  // namespace weft::bench
