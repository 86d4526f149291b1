// Activations as layers, for Sequential. Each is the function of the same name in tensor/ops.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"

namespace weft::nn {

class ReLU : public Layer<ReLU> {
 public:
  Tensor forward(const Tensor& x) const { return relu(x); }
};

class LeakyReLU : public Layer<LeakyReLU> {
 public:
  explicit LeakyReLU(double slope = 0.01) : slope_(slope) {}
  Tensor forward(const Tensor& x) const { return leaky_relu(x, slope_); }

 private:
  double slope_;
};

class GELU : public Layer<GELU> {
 public:
  explicit GELU(Gelu form = Gelu::exact) : form_(form) {}
  Tensor forward(const Tensor& x) const { return gelu(x, form_); }

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

class Softplus : public Layer<Softplus> {
 public:
  Tensor forward(const Tensor& x) const { return softplus(x); }
};

class Softmax : public Layer<Softmax> {
 public:
  explicit Softmax(int64_t axis = -1) : axis_(axis) {}
  Tensor forward(const Tensor& x) const { return softmax(x, axis_); }

 private:
  int64_t axis_;
};

class LogSoftmax : public Layer<LogSoftmax> {
 public:
  explicit LogSoftmax(int64_t axis = -1) : axis_(axis) {}
  Tensor forward(const Tensor& x) const { return log_softmax(x, axis_); }

 private:
  int64_t axis_;
};

}  // namespace weft::nn
