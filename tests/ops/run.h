// One run of a case: its inputs, results, and gradients of first and second order against fixed weights.
#pragma once

#include "tests/ops/draw.h"

namespace weft::testing {

/// Which inputs require a gradient, one bit each.
using Subset = uint32_t;

inline bool accepts(const OpCase& op, DType dtype) { return op.dtypes.contains(dtype); }
/// `first`, which is f32 or f64, if the case accepts it, else the other of the two if it accepts that, else i64.
DType accepted_dtype(const OpCase& op, DType first);
/// "sample 2 in f32", for messages.
std::string where(size_t sample, DType dtype);

/// The values of a sample's inputs in `dtype`; other ones for each `number`.
Arrays draw_inputs(const OpCase& op, size_t sample, DType dtype, size_t number = 0);
/// The dtype of one input when the case is checked in `dtype`.
inline DType dtype_of_input(const InputSpec& spec, DType dtype) { return spec.dtype.value_or(dtype); }
/// Tensors of the values, contiguous.
Inputs tensors_of(const Arrays& values, const Sample& sample, DType dtype);
/// All inputs that can have a gradient.
Subset all_differentiable(const Sample& sample);
/// The inputs, those of the subset as leaves.
Inputs with_leaves(const Inputs& inputs, Subset subset);

/// The sum of all floating results, each element with a weight that depends on its position.
double weighted_sum(const Outputs& outputs);
/// The gradients of weighted_sum, undefined for inputs outside of the subset.
Inputs gradients_of(const Outputs& outputs, const Inputs& leaves, Subset subset, bool create_graph = false);

/// Everything that two runs can be compared by.
struct Run {
  std::vector<Array> outputs;
  std::vector<Array> gradients;
};
Run run(const OpCase& op, const Inputs& inputs, Subset subset);

/// |actual - expected| <= atol + rtol |expected|, NaN equal to NaN; reports the first difference with `what`.
struct Tolerance {
  double rtol, atol;
};
/// Of f32 and f64; 0 for integers.
Tolerance tolerance_of(DType dtype, double factor);
void expect_close(const Array& actual, const Array& expected, Tolerance tolerance, const std::string& what);
void expect_close(const Run& actual, const Run& expected, Tolerance tolerance, const std::string& what);

}  // namespace weft::testing
