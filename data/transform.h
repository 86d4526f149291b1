// Transforms: functions from tensor to tensor that a dataset's examples pass. Random ones draw from the key they are
// given, so that an example looks the same whether it is prefetched or not, and again when an epoch is resumed.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/sampler.h"

namespace weft::data {

/// Any function of (const Tensor&), or of (const Tensor&, RandomKey) where it is random.
class Transform {
 public:
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&, RandomKey> && !std::same_as<F, Transform>)
  Transform(F f, bool random = true) : function_(std::move(f)), random_(random) {}
  template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&>)
  Transform(F f) : function_([f = std::move(f)](const Tensor& x, RandomKey) { return f(x); }) {}

  Tensor operator()(const Tensor& x, RandomKey key) const { return function_(x, key); }
  bool is_random() const { return random_; }

 private:
  std::function<Tensor(const Tensor&, RandomKey)> function_;
  bool random_ = false;
};

/// The transforms one after the other; each random one gets a key of its own.
Transform compose(std::vector<Transform> transforms);

/// One number for all, or one for each channel.
struct PerChannel {
  PerChannel(double value) : values{value} {}
  PerChannel(std::initializer_list<double> list) : values(list) {}
  std::vector<double> values;
};

/// (x - mean) / deviation; x is (channels, ...) where they are given per channel:
///   data::Normalize{0.13, 0.31}, data::Normalize{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}
struct Normalize {
  PerChannel mean = 0;
  PerChannel deviation = 1;
  Tensor operator()(const Tensor& x) const;
};

/// Moves an image (..., height, width) by up to `most` pixels each way, per axis; zeros come in at the edges.
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

/// The middle (height, width) of an image (..., h, w), the same pixels as torchvision's. ShapeError where it is
/// smaller.
struct CenterCrop {
  int64_t height = 0;
  int64_t width = 0;
  Tensor operator()(const Tensor& x) const;
};

/// A random part of (height, width) of an image (..., h, w) that got `padding` zeros on each side. ShapeError where it
/// is smaller.
struct RandomCrop {
  int64_t height = 0;
  int64_t width = 0;
  int64_t padding = 0;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// An image (..., h, w) in another size, by straight lines between the centres of its pixels (as PyTorch's bilinear
/// interpolation without align_corners). f32 for integers.
struct Resize {
  int64_t height = 0;
  int64_t width = 0;
  Tensor operator()(const Tensor& x) const;
};

/// Turns an image (..., h, w) about its middle, counter-clockwise by an angle in [-degrees, degrees); zeros come in at
/// the edges. Between pixels as Resize.
struct RandomRotation {
  double degrees = 10;
  Tensor operator()(const Tensor& x, RandomKey key) const;
};

/// A dataset whose examples pass a transform; see map().
template <size_t N> class MappedDataset : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;
  MappedDataset(std::shared_ptr<const DatasetOf<N>> dataset, Transform transform, size_t position)
      : dataset_(std::move(dataset)), transform_(std::move(transform)), position_(position) {}

  int64_t size() const override { return dataset_->size(); }
  bool is_random() const override { return transform_.is_random() || dataset_->is_random(); }
  /// A random transform gives the same result every time it is asked like this.
  Example get(int64_t index) const override { return sample(index, RandomKey{}); }
  Example sample(int64_t index, RandomKey key) const override {
    Example example = dataset_->sample(index, split_key(key, 0));
    example[position_] = transform_(example[position_], split_key(key, 1));
    return example;
  }
  Example combine(std::vector<Example> examples) const override { return dataset_->combine(std::move(examples)); }

 private:
  std::shared_ptr<const DatasetOf<N>> dataset_;
  Transform transform_;
  size_t position_;
};

/// `dataset` with tensor `Position` of every example (the first, unless said otherwise) passed through `transform`:
///   auto augmented = data::map(train, data::compose({data::Normalize{0.13, 0.31}, data::RandomShift{2}}));
/// An lvalue is referred to and must outlive the result; a temporary is taken over.
template <size_t Position = 0, AnyDataset D> auto map(D&& dataset, Transform transform) {
  constexpr size_t kTensors = std::remove_cvref_t<D>::kTensors;
  static_assert(Position < kTensors);
  return MappedDataset<kTensors>(hold(std::forward<D>(dataset)), std::move(transform), Position);
}

}  // namespace weft::data
