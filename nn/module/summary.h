// summary(): a table of a model's layers with their output shapes, parameters and multiply-adds.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "nn/module/layer.h"

namespace weft::nn {

struct SummaryRow {
  std::string name;           // below the model; "" for the model itself
  std::string type;           // Conv2d
  bool ran = false;           // it was called: as a layer, or by summary()
  Shape output_shape = {};    // of its last call
  int64_t parameters = 0;     // its own, without those of modules below it
  int64_t multiply_adds = 0;  // of products (attention's too) and convolutions that ran in it and in no layer below it
};

struct Summary {
  std::vector<SummaryRow> rows;  // the model, then all modules, parents first
  int64_t parameters = 0;
  int64_t trainable_parameters = 0;
  int64_t multiply_adds = 0;

  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const Summary& summary);

struct SummaryOptions {
  DType dtype = f32;  // of the input
};

namespace detail {
Summary summarize(const Module& model, const std::function<void(const Tensor&)>& run, const Shape& input_shape,
                  const SummaryOptions& options);
}

/// Runs the model once on zeros of `input_shape`, in evaluation and without a tape, and says what happened where. The
/// model is left as it was. A module that is run by `forward(x)` rather than `module(x)` shows no output shape.
template <HasForward M> Summary summary(M& model, const Shape& input_shape, const SummaryOptions& options = {}) {
  return detail::summarize(
      model, [&model](const Tensor& x) { (void)run_layer(model, x); }, input_shape, options);
}

}  // namespace weft::nn
