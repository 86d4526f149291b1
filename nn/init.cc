#include "nn/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/grad_mode.h"
#include "nn/module/clone.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/runtime/threads.h"

namespace weft::nn::init {

namespace {
/// DtypeError unless the tensor is floating: integers would lose the fractions.
void check_floating(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) throw DtypeError(text("the tensor must be floating, not ", tensor.dtype()));
}

/// A fan to divide by. One of 0 belongs to a tensor without elements, for which any number will do.
double divisor(int64_t fan) { return static_cast<double>(std::max<int64_t>(fan, 1)); }

/// Calls draw(tensor, generator). While clone() builds a module whose values it will overwrite, only a part is drawn
/// and then repeated, so that a constructor that reads the weights still finds numbers of this kind. The length of the
/// part is a prime, so that rows differ.
template <class Draw> void draw_or_repeat(Tensor& tensor, Generator& generator, const Draw& draw) {
  constexpr int64_t kDrawn = 65537;
  const int64_t count = tensor.numel();
  if (count <= kDrawn || !tensor.is_contiguous() || !nn::detail::OverwrittenScope::is_open())
    return draw(tensor, generator);
  const Tensor all = tensor.detach().view({count});
  Tensor first = narrow(all, 0, 0, kDrawn);
  Generator source(RandomState(generator.next_key(count)));  // `generator` advances as by a draw of all
  draw(first, source);
  for (int64_t at = kDrawn; at < count; at += kDrawn) {
    const int64_t part = std::min(kDrawn, count - at);
    narrow(all, 0, at, part).copy_(narrow(first, 0, 0, part));
  }
}

/// Mills' ratio of the standard normal distribution, its tail beyond x divided by its density at x, by a continued
/// fraction. For x >= kTail, where the relative error is below 1e-12. X: a number or a Tensor.
constexpr double kTail = 5;
template <class X> X mills_ratio(const X& x) {
  X below = x;
  for (int k = 30; k > 0; --k) below = x + static_cast<double>(k) / below;
  return 1.0 / below;
}

/// The logarithm of the tail beyond x, up to a constant.
template <class X> X log_tail(const X& x, const X& ratio) {
  using std::log;
  return log(ratio) - x * x * 0.5;
}

/// The quantiles u of the standard normal distribution restricted to [low, high], where low >= kTail. They are found by
/// Newton's method for the logarithm of the tail, whose derivative is -1 / ratio.
Tensor quantiles_of_tail(const Tensor& u, double low, double high) {
  low = std::min(low, 1e8);  // from there on all of them are `low`, to the last bit
  const double first = log_tail(low, mills_ratio(low));
  const double beyond = std::exp(log_tail(high, mills_ratio(high)) - first);  // 0 where high is infinite
  const Tensor wanted = log1p(u * (beyond - 1));
  Tensor x = sqrt(wanted * -2.0 + low * low);
  for (int step = 0; step < 4; ++step) {
    const Tensor ratio = mills_ratio(x);
    x = x + (log_tail(x, ratio) - (wanted + first)) * ratio;
  }
  return x;
}
}  // namespace

double gain(Nonlinearity nonlinearity, double slope) {
  switch (nonlinearity) {
    case Nonlinearity::tanh: return 5.0 / 3.0;
    case Nonlinearity::relu: return std::sqrt(2.0);
    case Nonlinearity::leaky_relu: return std::sqrt(2.0 / (1.0 + slope * slope));
    case Nonlinearity::selu: return 0.75;
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid: break;
  }
  return 1.0;
}

int64_t fan(const Tensor& weight, Fan which) {
  ErrorFrame frame("fan", weight);
  if (weight.rank() < 2) throw ShapeError("a fan needs a weight with two or more axes");
  int64_t product = weight.size(which == Fan::in ? 1 : 0);
  for (int64_t axis = 2; axis < weight.rank(); ++axis) product = checked_multiply(product, weight.size(axis));
  return product;
}

void uniform(Tensor tensor, double low, double high, Generator& generator) {
  ErrorFrame frame("uniform", tensor);
  NoGrad guard;
  draw_or_repeat(tensor, generator, [&](Tensor& part, Generator& source) { part.uniform_(low, high, source); });
}

void normal(Tensor tensor, double mean, double std, Generator& generator) {
  ErrorFrame frame("normal", tensor);
  NoGrad guard;
  draw_or_repeat(tensor, generator, [&](Tensor& part, Generator& source) { part.normal_(mean, std, source); });
}

void trunc_normal(Tensor tensor, double mean, double std, double low, double high, Generator& generator) {
  ErrorFrame frame("trunc_normal", tensor);
  check_floating(tensor);
  if (!(low < high)) throw Error(text("low ", low, " must be below high ", high));
  if (!(std > 0)) throw Error(text("the standard deviation ", std, " must be positive"));
  NoGrad guard;
  // The inverse of the distribution function, between its values at the bounds. In the tails these hardly differ.
  const auto below = [&](double x) { return std::erf((x - mean) / (std * std::numbers::sqrt2)); };
  const double first = (low - mean) / std, last = (high - mean) / std;
  const auto deviations = [&](const Tensor& u) {
    if (first > kTail) return quantiles_of_tail(u, first, last) * std;
    if (last < -kTail) return quantiles_of_tail(u, -last, -first) * -std;
    return erfinv(u * (below(high) - below(low)) + below(low)) * (std * std::numbers::sqrt2);
  };
  const auto fill = [&](Tensor part, Generator& source) {
    part.copy_(clip(deviations(rand(part.shape(), source, f64, part.device())) + mean, low, high));
  };
  // Part by part, so that intermediate results stay in the cache. A block of a stream has two numbers in f64.
  const int64_t count = tensor.numel(), most = int64_t{num_threads()} << 14;
  if (count <= most || !tensor.is_contiguous() || !tensor.device().is_cpu()) return fill(tensor, generator);
  const RandomKey key = generator.next_key(count);
  const Tensor all = tensor.detach().view({count});
  for (int64_t at = 0; at < count; at += most) {
    Generator source(RandomState{key.seed, key.offset + static_cast<uint64_t>(at / 2)});
    fill(narrow(all, 0, at, std::min(most, count - at)), source);
  }
}

void constant(Tensor tensor, double value) {
  NoGrad guard;
  tensor.fill_(value);
}

void xavier_uniform(Tensor tensor, double gain, Generator& generator) {
  ErrorFrame frame("xavier_uniform", tensor);
  const double bound = gain * std::sqrt(6.0 / divisor(fan(tensor, Fan::in) + fan(tensor, Fan::out)));
  uniform(tensor, -bound, bound, generator);
}

void xavier_normal(Tensor tensor, double gain, Generator& generator) {
  ErrorFrame frame("xavier_normal", tensor);
  normal(tensor, 0, gain * std::sqrt(2.0 / divisor(fan(tensor, Fan::in) + fan(tensor, Fan::out))), generator);
}

void kaiming_uniform(Tensor tensor, const KaimingOptions& options, Generator& generator) {
  ErrorFrame frame("kaiming_uniform", tensor);
  const double inputs = divisor(fan(tensor, options.fan));
  const double bound = gain(options.nonlinearity, options.slope) * std::sqrt(3.0 / inputs);
  uniform(tensor, -bound, bound, generator);
}

void kaiming_normal(Tensor tensor, const KaimingOptions& options, Generator& generator) {
  ErrorFrame frame("kaiming_normal", tensor);
  const double inputs = divisor(fan(tensor, options.fan));
  normal(tensor, 0, gain(options.nonlinearity, options.slope) / std::sqrt(inputs), generator);
}

void orthogonal(Tensor tensor, double gain, Generator& generator) {
  ErrorFrame frame("orthogonal", tensor);
  check_floating(tensor);
  if (tensor.rank() < 2) throw ShapeError("the tensor must have two or more axes");
  if (tensor.numel() == 0) return;
  NoGrad guard;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  const DType dtype = tensor.dtype() == f64 ? f64 : f32;
  const bool wide = rows < columns;
  const Tensor random = randn(wide ? Shape{columns, rows} : Shape{rows, columns}, generator, dtype, tensor.device());
  const auto [q, r] = qr(random);
  // The signs of r's diagonal make the distribution uniform (Mezzadri, arXiv math-ph/0609050).
  const Tensor values = q * sign(diagonal(r)) * gain;
  tensor.copy_(reshape(wide ? transpose(values, 0, 1) : values, tensor.shape()));
}

void sparse(Tensor tensor, double sparsity, double std, Generator& generator) {
  ErrorFrame frame("sparse", tensor);
  if (tensor.rank() != 2) throw ShapeError("the tensor must have two axes");
  if (!(sparsity >= 0 && sparsity <= 1)) throw Error(text("sparsity must be in [0, 1], not ", sparsity));
  const int64_t rows = tensor.size(0);
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  normal(tensor, 0, std, generator);
  NoGrad guard;
  for (int64_t column = 0; column < tensor.size(1); ++column)
    select(tensor, 1, column).index_fill_(0, narrow(randperm(rows, generator), 0, 0, zeros), 0);
}

void eye(Tensor tensor) {
  ErrorFrame frame("eye", tensor);
  if (tensor.rank() != 2) throw ShapeError("the tensor must have two axes");
  NoGrad guard;
  tensor.fill_(0);
  diagonal(tensor).fill_(1);
}

void dirac(Tensor tensor, int64_t groups) {
  ErrorFrame frame("dirac", tensor);
  if (tensor.rank() < 3 || tensor.rank() > 5) throw ShapeError("the tensor must have three to five axes");
  if (groups < 1 || tensor.size(0) % groups != 0)
    throw ShapeError(text(tensor.size(0), " channels do not divide into ", groups, " groups"));
  NoGrad guard;
  tensor.fill_(0);
  const int64_t channels = tensor.size(0) / groups;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t i = 0; i < std::min(channels, tensor.size(1)); ++i) {
      Tensor kernel = tensor[group * channels + i][i];
      while (kernel.rank() > 0) kernel = kernel[kernel.size(0) / 2];
      kernel.fill_(1);
    }
}

void layer_default(Tensor weight, Tensor bias, Generator& generator) {
  if (weight.numel() > 0) kaiming_uniform(weight, {.slope = std::sqrt(5.0)}, generator);
  if (!bias.defined()) return;
  const int64_t inputs = fan(weight, Fan::in);
  const double bound = inputs > 0 ? 1.0 / std::sqrt(static_cast<double>(inputs)) : 0.0;
  uniform(bias, -bound, bound, generator);
}

}  // namespace weft::nn::init
