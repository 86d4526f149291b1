// Transforms: functions from tensor to tensor that are applied to a dataset's examples. Random transforms draw from the
// key that they are given. So an example is the same with and without prefetching, and again when an epoch is resumed.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/sampler.h"

namespace weft::data {

/// Wraps a function of (const Tensor&), or of (const Tensor&, RandomKey) if it is random. Error for an empty
/// std::function.
class Transform {
 public:
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&, RandomKey> && !std::same_as<F, Transform>)
  Transform(F f, bool random = true)
      : function_(weft::detail::not_empty("Transform", Function(std::move(f)))), random_(random) {}
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&>)
  Transform(F f)
      : function_([f = weft::detail::not_empty("Transform", std::function<Tensor(const Tensor&)>(std::move(f)))](
                      const Tensor& x, RandomKey) { return f(x); }) {}

  Tensor operator()(const Tensor& x, RandomKey key) const { return function_(x, key); }
  bool is_random() const { return random_; }

 private:
  using Function = std::function<Tensor(const Tensor&, RandomKey)>;
  Function function_;
  bool random_ = false;
};

/// Applies the transforms in order. Each random one gets its own key.
Transform compose(std::vector<Transform> transforms);

/// One number for all channels, or one per channel.
struct PerChannel {
  PerChannel(double value) : values{value} {}
  PerChannel(std::initializer_list<double> list) : values(list) {}
  std::vector<double> values;
};

/// (x - mean) / deviation. Integer images become f32; u8 values are not scaled to [0, 1] before. Error if a deviation
/// is not positive, ShapeError if there are numbers for another number of channels. With per-channel numbers, x is
/// (channels, ...):
///   data::Normalize{0.13, 0.31}, data::Normalize{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}
struct Normalize {
  PerChannel mean = 0;
  PerChannel deviation = 1;
  Tensor operator()(const Tensor& x) const;
};

/// Shifts an image (..., height, width) along each of the two axes by a random number of pixels in [-most, most];
/// pixels from outside are zeros.
struct RandomShift {
  int64_t most = 2;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// Mirrors an image (..., height, width) along `axis` with probability `p`.
struct RandomFlip {
  double p = 0.5;
  int64_t axis = -1;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// The central (height, width) crop of an image (..., h, w), with the same pixels as torchvision's. ShapeError if the
/// image is smaller (torchvision pads it with zeros).
struct CenterCrop {
  int64_t height = 0;
  int64_t width = 0;
  Tensor operator()(const Tensor& x) const;
};

/// A random (height, width) crop of an image (..., h, w), after padding it with `padding` zeros on each side.
/// ShapeError if the padded image is smaller.
struct RandomCrop {
  int64_t height = 0;
  int64_t width = 0;
  int64_t padding = 0;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// Resizes an image (..., h, w) to (..., height, width) by bilinear interpolation without align_corners and without
/// antialiasing, as interpolate() does. (torchvision's Resize antialiases by default.) Integer images become f32.
struct Resize {
  int64_t height = 0;
  int64_t width = 0;
  Tensor operator()(const Tensor& x) const;
};

/// Rotates an image (..., h, w) about its center, counter-clockwise, by a random angle in [-degrees, degrees). Pixels
/// from outside are zeros; interpolation is bilinear, as in Resize. Integer images become f32.
struct RandomRotation {
  double degrees = 10;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// A dataset whose examples are transformed; see map().
template <size_t N> class MappedDataset : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;
  MappedDataset(HeldDataset<N> dataset, Transform transform, size_t position)
      : dataset_(std::move(dataset)), transform_(std::move(transform)), position_(position) {}

  int64_t size() const override { return dataset_->size(); }
  bool is_random() const override { return transform_.is_random() || dataset_->is_random(); }
  /// Uses a fixed key, so a random transform returns the same result on every call.
  Example get(int64_t index) const override { return sample(index, RandomKey{}); }
  Example sample(int64_t index, RandomKey key) const override {
    Example example = dataset_->sample(index, split_key(key, 0));
    example[position_] = transform_(example[position_], split_key(key, 1));
    return example;
  }
  Example combine(std::vector<Example> examples) const override { return dataset_->combine(std::move(examples)); }

 private:
  HeldDataset<N> dataset_;
  Transform transform_;
  size_t position_;
};

/// Returns `dataset` with `transform` applied to tensor `Position` of every example (by default the first):
///   auto augmented = data::map(train, data::compose({data::Normalize{0.13, 0.31}, data::RandomShift{2}}));
/// An lvalue is held by reference and must outlive the result; a temporary is moved in.
template <size_t Position = 0, AnyDataset D> auto map(D&& dataset, Transform transform) {
  constexpr size_t kTensors = std::remove_cvref_t<D>::kTensors;
  static_assert(Position < kTensors);
  return MappedDataset<kTensors>(hold(std::forward<D>(dataset)), std::move(transform), Position);
}

}  // namespace weft::data
