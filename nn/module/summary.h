// summary(): a table of a model's layers with output shapes, parameter counts and multiply-adds.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "nn/module/layer.h"
#include "tensor/functions/fill.h"

namespace weft::nn {

struct SummaryRow {
  std::string name;         // dotted name in the model; "" for the model itself
  std::string type;         // the class, such as Conv2d
  bool ran = false;         // it was called, as a layer or by summary()
  Shape output_shape = {};  // of the last call
  int64_t parameters = 0;   // elements of its own parameters, without descendants
  /// Multiply-adds of the matrix products (including attention) and convolutions that ran directly in this module, not
  /// in a layer below it.
  int64_t multiply_adds = 0;
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
Summary summarize(const Module& model, const std::function<void()>& run);
}

/// Runs the model once on zeros of `input_shape`, in evaluation mode and without a tape, and records the output shape,
/// parameters and multiply-adds of each module. The model is unchanged afterwards. A module that was run with
/// `forward(x)` instead of `module(x)` has no output shape in the table.
template <HasForward M> Summary summary(M& model, const Shape& input_shape, const SummaryOptions& options = {}) {
  return detail::summarize(model, [&] { (void)run_layer(model, zeros(input_shape, options.dtype)); });
}
/// The same on these tensors, for a model of several, or with a result that is no tensor: forward(inputs...) is run.
template <std::derived_from<Module> M, std::same_as<Tensor>... Inputs>
  requires(sizeof...(Inputs) > 0)
Summary summary(M& model, const Inputs&... inputs) {
  const auto forward = [&](const auto&... given) { return detail::forward_of(model, given...); };
  return detail::summarize(model, [&] { (void)in_layer(model, forward, inputs...); });
}

}  // namespace weft::nn
