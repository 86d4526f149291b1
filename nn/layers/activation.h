// Activations as layers. Each applies the function of the same name in tensor/functions.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/activation.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"

namespace weft::nn {

class ReLU : public Layer<ReLU> {
 public:
  Tensor forward(const Tensor& x) const { return relu(x); }
};

class LeakyReLU : public Layer<LeakyReLU> {
 public:
  explicit LeakyReLU(double slope = 0.01) : slope_(slope) { describe(text("negative_slope=", slope)); }
  Tensor forward(const Tensor& x) const { return leaky_relu(x, slope_); }
  LeakyReLU remake() const { return LeakyReLU(slope_); }

 private:
  double slope_;
};

class GELU : public Layer<GELU> {
 public:
  explicit GELU(Gelu form = Gelu::exact) : form_(form) { describe(form == Gelu::tanh ? "approximate=tanh" : ""); }
  Tensor forward(const Tensor& x) const { return gelu(x, form_); }
  GELU remake() const { return GELU(form_); }

 private:
  Gelu form_;
};

class SiLU : public Layer<SiLU> {
 public:
  Tensor forward(const Tensor& x) const { return silu(x); }
};

class Sigmoid : public Layer<Sigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

class Tanh : public Layer<Tanh> {
 public:
  Tensor forward(const Tensor& x) const { return tanh(x); }
};

/// log(1 + e^(beta x)) / beta, or x where beta x > threshold. The default constructor uses softplus(x), which is exact
/// and has no threshold.
class Softplus : public Layer<Softplus> {
 public:
  Softplus() = default;
  explicit Softplus(double beta, double threshold = 20);
  Tensor forward(const Tensor& x) const { return beta_ == 0 ? softplus(x) : softplus(x, beta_, threshold_); }
  Softplus remake() const { return beta_ == 0 ? Softplus() : Softplus(beta_, threshold_); }

 private:
  double beta_ = 0;
  double threshold_ = 0;
};

/// softmax() along `axis`. The default is -1, in LogSoftmax and Softmin too; PyTorch chooses it by the rank.
class Softmax : public Layer<Softmax> {
 public:
  explicit Softmax(int64_t axis = -1) : axis_(axis) { describe(text("axis=", axis)); }
  Tensor forward(const Tensor& x) const { return softmax(x, axis_); }
  Softmax remake() const { return Softmax(axis_); }

 private:
  int64_t axis_;
};

class LogSoftmax : public Layer<LogSoftmax> {
 public:
  explicit LogSoftmax(int64_t axis = -1) : axis_(axis) { describe(text("axis=", axis)); }
  Tensor forward(const Tensor& x) const { return log_softmax(x, axis_); }
  LogSoftmax remake() const { return LogSoftmax(axis_); }

 private:
  int64_t axis_;
};

class ELU : public Layer<ELU> {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) { describe(text("alpha=", alpha)); }
  Tensor forward(const Tensor& x) const { return elu(x, alpha_); }
  ELU remake() const { return ELU(alpha_); }

 private:
  double alpha_;
};

class SELU : public Layer<SELU> {
 public:
  Tensor forward(const Tensor& x) const { return selu(x); }
};

class CELU : public Layer<CELU> {
 public:
  explicit CELU(double alpha = 1) : alpha_(alpha) { describe(text("alpha=", alpha)); }
  Tensor forward(const Tensor& x) const { return celu(x, alpha_); }
  CELU remake() const { return CELU(alpha_); }

 private:
  double alpha_;
};

class Mish : public Layer<Mish> {
 public:
  Tensor forward(const Tensor& x) const { return mish(x); }
};

class Hardswish : public Layer<Hardswish> {
 public:
  Tensor forward(const Tensor& x) const { return hardswish(x); }
};

class Hardsigmoid : public Layer<Hardsigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return hardsigmoid(x); }
};

class ReLU6 : public Layer<ReLU6> {
 public:
  Tensor forward(const Tensor& x) const { return relu6(x); }
};

class LogSigmoid : public Layer<LogSigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return logsigmoid(x); }
};

class Softsign : public Layer<Softsign> {
 public:
  Tensor forward(const Tensor& x) const { return softsign(x); }
};

class Tanhshrink : public Layer<Tanhshrink> {
 public:
  Tensor forward(const Tensor& x) const { return tanhshrink(x); }
};

class Hardtanh : public Layer<Hardtanh> {
 public:
  explicit Hardtanh(double min = -1, double max = 1) : min_(min), max_(max) {
    describe(text("min=", min, ", max=", max));
  }
  Tensor forward(const Tensor& x) const { return hardtanh(x, min_, max_); }
  Hardtanh remake() const { return Hardtanh(min_, max_); }

 private:
  double min_;
  double max_;
};

class Threshold : public Layer<Threshold> {
 public:
  Threshold(double threshold, double value) : threshold_(threshold), value_(value) {
    describe(text("threshold=", threshold, ", value=", value));
  }
  Tensor forward(const Tensor& x) const { return threshold(x, threshold_, value_); }
  Threshold remake() const { return Threshold(threshold_, value_); }

 private:
  double threshold_;
  double value_;
};

class Softshrink : public Layer<Softshrink> {
 public:
  explicit Softshrink(double width = 0.5) : width_(width) { describe(text(width)); }
  Tensor forward(const Tensor& x) const { return softshrink(x, width_); }
  Softshrink remake() const { return Softshrink(width_); }

 private:
  double width_;
};

class Hardshrink : public Layer<Hardshrink> {
 public:
  explicit Hardshrink(double width = 0.5) : width_(width) { describe(text(width)); }
  Tensor forward(const Tensor& x) const { return hardshrink(x, width_); }
  Hardshrink remake() const { return Hardshrink(width_); }

 private:
  double width_;
};

class GLU : public Layer<GLU> {
 public:
  explicit GLU(int64_t axis = -1) : axis_(axis) { describe(text("axis=", axis)); }
  Tensor forward(const Tensor& x) const { return glu(x, axis_); }
  GLU remake() const { return GLU(axis_); }

 private:
  int64_t axis_;
};

class Softmin : public Layer<Softmin> {
 public:
  explicit Softmin(int64_t axis = -1) : axis_(axis) { describe(text("axis=", axis)); }
  Tensor forward(const Tensor& x) const { return softmin(x, axis_); }
  Softmin remake() const { return Softmin(axis_); }

 private:
  int64_t axis_;
};

/// max(0, x) + weight * min(0, x). `weight` is a parameter with one slope, or one per channel, initialized to `init`.
class PReLU : public Layer<PReLU> {
 public:
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25, DType dtype = f32);
  Tensor forward(const Tensor& x) const { return prelu(x, weight_); }
  PReLU remake() const { return PReLU(weight_.size(0)); }

  Tensor weight() const { return weight_; }

 private:
  Tensor weight_;
};

/// Softmax over the channels of x (N, C, H, W) or (C, H, W).
class Softmax2d : public Layer<Softmax2d> {
 public:
  Tensor forward(const Tensor& x) const;
};

/// A leaky ReLU whose slope is drawn per element from [lower, upper) in training, and is (lower + upper) / 2 in
/// evaluation.
class RReLU : public Layer<RReLU> {
 public:
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3) : lower_(lower), upper_(upper) {
    describe(text("lower=", lower, ", upper=", upper));
    mark_as_mode_dependent();
  }
  Tensor forward(const Tensor& x) const { return rrelu(x, lower_, upper_, is_training(), generator()); }
  RReLU remake() const { return RReLU(lower_, upper_); }

 private:
  double lower_;
  double upper_;
};

}  // namespace weft::nn
