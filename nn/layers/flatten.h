// Layers that only reshape (Flatten, Unflatten, Identity), and Lambda, which wraps a function as a layer.
#pragma once

#include <functional>
#include <utility>

#include "nn/module/layer.h"

namespace weft::nn {

/// Merges the axes start..end (inclusive) into one.
class Flatten : public Layer<Flatten> {
 public:
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start_(start), end_(end) {
    describe(text("start=", start, ", end=", end));
  }
  Tensor forward(const Tensor& x) const { return x.flatten(start_, end_); }
  Flatten remake() const { return Flatten(start_, end_); }

 private:
  int64_t start_;
  int64_t end_;
};

/// Splits axis `axis` into `sizes`, one of which may be -1.
class Unflatten : public Layer<Unflatten> {
 public:
  Unflatten(int64_t axis, const Shape& sizes) : axis_(axis), sizes_(sizes) {
    describe(text("axis=", axis, ", sizes=", sizes));
  }
  Tensor forward(const Tensor& x) const { return x.unflatten(axis_, sizes_); }
  Unflatten remake() const { return Unflatten(axis_, sizes_); }

 private:
  int64_t axis_;
  Shape sizes_;
};

/// Returns x unchanged.
class Identity : public Layer<Identity> {
 public:
  Tensor forward(const Tensor& x) const { return x; }
};

/// Applies f(x), where f has no parameters. Sequential wraps lambdas in this class.
class Lambda : public Layer<Lambda> {
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> f) : f_(std::move(f)) {
    if (!f_) throw Error("Lambda: the function is empty");
  }
  Tensor forward(const Tensor& x) const { return f_(x); }
  Lambda remake() const { return Lambda(f_); }

 private:
  std::function<Tensor(const Tensor&)> f_;
};

}  // namespace weft::nn
