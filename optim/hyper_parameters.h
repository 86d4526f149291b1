// Hyper-parameters of the optimizers that are composed of ops, in the format of tensor/core/hyper_parameters.h.
#pragma once

#include "tensor/core/hyper_parameters.h"

namespace weft::optim {

#define WEFT_LAMB_FIELDS(ROW)                                                                       \
  ROW(Number, lr, 1e-3, not_negative)                                                               \
  ROW(Number, beta1, 0.9, fraction)   /* decay of the mean of gradients */                          \
  ROW(Number, beta2, 0.999, fraction) /* decay of the mean square */                                \
  ROW(Number, eps, 1e-6, not_negative)                                                              \
  ROW(Number, weight_decay, 1e-2, not_negative) /* added to the update before its norm is scaled */ \
  ROW(Switch, maximize, false, any)             /* gradient ascent instead of descent */            \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct LAMBFields { WEFT_HYPER_PARAMETERS(LAMBFields, WEFT_LAMB_FIELDS) };
using LAMBOptions = LAMBFields<AsOptions>;

#define WEFT_ASGD_FIELDS(ROW)                                                                        \
  ROW(Number, lr, 1e-2, not_negative)                                                                \
  ROW(Number, lambd, 1e-4, not_negative)       /* decay of the parameter and of the learning rate */ \
  ROW(Number, alpha, 0.75, any)                /* exponent of the learning rate's decay */           \
  ROW(Number, t0, 1e6, not_negative)           /* the step at which averaging starts */              \
  ROW(Number, weight_decay, 0.0, not_negative) /* L2: added to the gradient */                       \
  ROW(Switch, maximize, false, any)            /* gradient ascent instead of descent */              \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct ASGDFields { WEFT_HYPER_PARAMETERS(ASGDFields, WEFT_ASGD_FIELDS) };
using ASGDOptions = ASGDFields<AsOptions>;

#define WEFT_RPROP_FIELDS(ROW)                                                                          \
  ROW(Number, lr, 1e-2, not_negative)      /* initial step size of every element */                     \
  ROW(Number, eta_minus, 0.5, fraction)    /* factor on the step size if the gradient's sign changed */ \
  ROW(Number, eta_plus, 1.2, not_negative) /* factor if the sign did not change */                      \
  ROW(Number, min_step, 1e-6, not_negative)                                                             \
  ROW(Number, max_step, 50.0, not_negative)                                                             \
  ROW(Switch, maximize, false, any) /* gradient ascent instead of descent */                            \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct RpropFields {
  WEFT_HYPER_PARAMETERS(RpropFields, WEFT_RPROP_FIELDS)
  /// Why the values contradict each other; null if they do not.
  const char* conflict() const {
    if (!(eta_plus > 1 && eta_minus > 0)) return "eta_minus must be in (0, 1) and eta_plus above 1";
    return min_step <= max_step ? nullptr : "min_step is above max_step";
  }
};
using RpropOptions = RpropFields<AsOptions>;

#define WEFT_ADAFACTOR_FIELDS(ROW)                                                                          \
  ROW(Number, lr, 1e-2, not_negative)          /* upper bound of the relative learning rate */              \
  ROW(Number, beta2_decay, -0.8, any)          /* the mean square decays by 1 - t^beta2_decay */            \
  ROW(Number, eps1, 0.0, not_negative)         /* floor of the root mean square; 0: epsilon of f32 (f64) */ \
  ROW(Number, eps2, 1e-3, not_negative)        /* floor of the parameter's scale */                         \
  ROW(Number, d, 1.0, not_negative)            /* the update is clipped to this root mean square */         \
  ROW(Number, weight_decay, 0.0, not_negative) /* shrinks the parameter by lr * weight_decay */             \
  ROW(Switch, maximize, false, any)            /* gradient ascent instead of descent */                     \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct AdafactorFields {
  WEFT_HYPER_PARAMETERS(AdafactorFields, WEFT_ADAFACTOR_FIELDS)
  /// Why the values contradict each other; null if they do not.
  const char* conflict() const {
    return beta2_decay <= 0 && d >= 1 ? nullptr : "beta2_decay must be 0 or less, and d 1 or more";
  }
};
using AdafactorOptions = AdafactorFields<AsOptions>;

#define WEFT_MUON_FIELDS(ROW)                                                                            \
  ROW(Number, lr, 1e-3, not_negative)                                                                    \
  ROW(Number, weight_decay, 0.1, not_negative) /* shrinks the parameter by lr * weight_decay */          \
  ROW(Number, momentum, 0.95, fraction)                                                                  \
  ROW(Switch, nesterov, true, any)                                                                       \
  ROW(Number, ns_a, 3.4445, any)                                                                         \
  ROW(Number, ns_b, -4.7750, any)                                                                        \
  ROW(Number, ns_c, 2.0315, any)                                                                         \
  ROW(Number, eps, 1e-7, not_negative)     /* floor of the norm that the update is divided by */         \
  ROW(Count, ns_steps, 5, not_negative)    /* Newton-Schulz iterations */                                \
  ROW(Switch, match_rms_adamw, false, any) /* match AdamW's update size: Liu et al., arXiv 2502.16982 */ \
  ROW(Switch, maximize, false, any)        /* gradient ascent instead of descent */                      \
  ROW(Switch, bf16_iterations, false, option)                                                            \
  WEFT_HALF_PRECISION_FIELDS(ROW)
/// ns_a, ns_b and ns_c are the coefficients of the Newton-Schulz iteration. With bf16_iterations its matrices are bf16,
/// as PyTorch's are: updates differ by about a per cent, and take a quarter of the time on CPUs that multiply bf16. The
/// learning rate of a matrix is lr sqrt(max(1, rows / columns)), or 0.2 lr sqrt(max(rows, columns)) with
/// match_rms_adamw.
template <class As> struct MuonFields { WEFT_HYPER_PARAMETERS(MuonFields, WEFT_MUON_FIELDS) };
using MuonOptions = MuonFields<AsOptions>;

#define WEFT_LBFGS_FIELDS(ROW)                                                                           \
  ROW(Number, lr, 1.0, not_negative)                /* step length; first guess of the line search */    \
  ROW(Count, max_iter, 20, not_negative)            /* iterations per step */                            \
  ROW(Count, max_eval, 0, not_negative)             /* closure calls per step; 0: max_iter * 5 / 4 */    \
  ROW(Number, tolerance_grad, 1e-7, not_negative)   /* stop if no gradient element is larger */          \
  ROW(Number, tolerance_change, 1e-9, not_negative) /* stop if loss or parameters change less */         \
  ROW(Count, history_size, 100, not_negative)       /* number of stored (parameter, gradient) changes */ \
  ROW(Switch, line_search, false, any)              /* use a strong Wolfe line search */                 \
  ROW(Switch, maximize, false, any)                 /* gradient ascent instead of descent */
template <class As> struct LBFGSFields {
  WEFT_HYPER_PARAMETERS(LBFGSFields, WEFT_LBFGS_FIELDS)
  /// Why the values contradict each other; null if they do not.
  const char* conflict() const {
    return max_iter > 0 && history_size > 0 ? nullptr : "max_iter and history_size must be 1 or more";
  }
};
using LBFGSOptions = LBFGSFields<AsOptions>;

}  // namespace weft::optim
