// The checks that every row of the case table goes through. Each reports what it finds as gtest failures.
#pragma once

#include "tests/ops/case.h"

namespace weft::testing {

/// The results equal the naive reference, with the dtype promised, for every dtype accepted; a DtypeError for the
/// others.
void check_values(const OpCase& op);
/// The dtypes in which memory layouts are compared.
inline constexpr DType kLayoutDTypes[] = {f32, f64, i64, boolean};
/// The results and gradients of inputs in any memory layout equal those of contiguous copies.
void check_layouts(const OpCase& op);
/// First and second order gradients in f64 agree with finite differences, and each subset of inputs gets the same ones.
void check_gradients(const OpCase& op);
/// f32 results and gradients agree with those of f64 and of the loop path, two runs agree bit for bit, and no memory
/// stays.
void check_kernels(const OpCase& op);
/// Gradients in bf16 and f16 are those of f64 on the same inputs and seeds, within bounds that follow from the number
/// of roundings to the format (roundings.h): what is inside is computed in f32.
void check_halves(const OpCase& op);
/// The result of a view op aliases its input, and its rule equals the generic adjoint.
void check_view(const OpCase& op);
/// On a device whose memory the host cannot touch, results and gradients have the same bits.
void check_device(const OpCase& op);
/// vmap of the call equals the loop over samples, with all inputs batched and with each of them alone, and so do the
/// gradients through it (grad of vmap) and inside of it (vmap of grad). A call that must read values is refused.
void check_vmap(const OpCase& op);
/// <w, J v>, J v by jvp, equals <J^T w, v>, J^T w by backward.
void check_jvp(const OpCase& op);
/// First and second order gradients are the same if what was saved for them comes back in another memory order.
void check_saved(const OpCase& op);
/// Gradients have the same bits where the engine alone holds the incoming ones, which rules may then write over (a seed
/// is held by its user), and results stay as they are.
void check_overwriting(const OpCase& op);
/// With one input undefined, the call runs (the input is optional) or throws an Error.
void check_undefined(const OpCase& op);
/// The error is of its kind and says exactly this.
void check_error(const ErrorCase& error);

/// Where an output's gradient may flow.
bool is_differentiable(const OpCase& op, const Sample& sample);
/// Runs forward, backward and second order of all samples once, without comparing: for coverage.
void run_all(const OpCase& op);

}  // namespace weft::testing
