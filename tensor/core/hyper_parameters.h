// Hyper-parameters of the optimizers, each defined once. optim/ derives from them the options, the parameter groups
// (where fields may be absent), the saved state, the checks and the printed text. The update kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::optim {

/// The range of valid values of a number.
enum class Range : uint8_t {
  any,
  not_negative,
  fraction,  // [0, 1)
  option,    // a switch that is printed and saved only if it is on
};

/// The type of the member `parameters` in options, which have no parameters. Users cannot create it by accident, so a
/// parameter group never converts to options.
struct NoParameters {
  constexpr explicit NoParameters(std::nullptr_t) {}
  bool operator==(const NoParameters&) const = default;
};

/// The form of the fields in options: values with defaults. (optim/group.h has the form in parameter groups.)
struct AsOptions {
  using Number = double;
  using Count = int64_t;
  using Switch = bool;
  using Parameters = NoParameters;
  static constexpr NoParameters none{nullptr};
  static constexpr double initial(double value) { return value; }
  static constexpr int64_t initial(int64_t value) { return value; }
  static constexpr bool initial(bool value) { return value; }
};

// A table has a row for each field: ROW(kind, name, default, range), "lr" first. WEFT_HYPER_PARAMETERS generates from
// it the members, and fields(self, visit), which calls visit(name, field, range) for each member.

#define WEFT_FIELD_MEMBER(Kind, name, value, range) Kind name = As::initial(AsOptions::Kind{value});
#define WEFT_FIELD_VISIT(Kind, name, value, range) visit(#name, self.name, Range::range);
#define WEFT_HYPER_PARAMETERS(Fields, TABLE)                           \
  using Number = typename As::Number;                                  \
  using Count = typename As::Count;                                    \
  using Switch = typename As::Switch;                                  \
  [[no_unique_address]] typename As::Parameters parameters = As::none; \
  TABLE(WEFT_FIELD_MEMBER)                                             \
  bool operator==(const Fields&) const = default;                      \
  static constexpr void fields(auto& self, auto visit) { TABLE(WEFT_FIELD_VISIT) }

// Options for 16-bit parameters and states, of every optimizer except L-BFGS. Steps always compute in f32.
//   master_weights       the optimizer keeps and saves f32 parameters, of which bf16 and f16 ones are rounded copies
//   stochastic_rounding  without master weights: rounds new parameters stochastically, so that small steps add up
//   bf16_states          states (such as means) are bf16, rounded stochastically, not f32 (f64 for f64 parameters)
#define WEFT_HALF_PRECISION_FIELDS(ROW)           \
  ROW(Switch, master_weights, false, option)      \
  ROW(Switch, stochastic_rounding, false, option) \
  ROW(Switch, bf16_states, false, option)

#define WEFT_SGD_FIELDS(ROW)                                                                  \
  ROW(Number, lr, 1e-3, not_negative)                                                         \
  ROW(Number, momentum, 0.0, not_negative)                                                    \
  ROW(Number, dampening, 0.0, any)             /* of the gradient that enters the momentum */ \
  ROW(Number, weight_decay, 0.0, not_negative) /* L2: added to the gradient */                \
  ROW(Switch, nesterov, false, any)            /* needs momentum, and no dampening */         \
  ROW(Switch, maximize, false, any)            /* ascends instead */                          \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct SGDFields {
  WEFT_HYPER_PARAMETERS(SGDFields, WEFT_SGD_FIELDS)
  /// The reason why the fields contradict each other, or null if they do not.
  const char* conflict() const {
    return nesterov && (momentum == 0 || dampening != 0) ? "nesterov needs momentum and no dampening" : nullptr;
  }
};
using SGDOptions = SGDFields<AsOptions>;

#define WEFT_ADAM_FIELDS(ROW)                                                                                       \
  ROW(Number, lr, 1e-3, not_negative)                                                                               \
  ROW(Number, beta1, 0.9, fraction)   /* decay of the mean */                                                       \
  ROW(Number, beta2, 0.999, fraction) /* decay of the mean square */                                                \
  ROW(Number, eps, 1e-8, not_negative)                                                                              \
  ROW(Number, weight_decay, decoupled ? 1e-2 : 0.0, not_negative) /* L2, added to the gradient, unless decoupled */ \
  ROW(Switch, amsgrad, false, any)  /* divides by the largest mean square so far (Reddi et al., ICLR 2018) */       \
  ROW(Switch, maximize, false, any) /* ascends instead */                                                           \
  WEFT_HALF_PRECISION_FIELDS(ROW)
/// The fields of Adam, and with `decoupled` of AdamW, whose weight decay multiplies the parameter by
/// 1 - lr * weight_decay.
template <class As, bool decoupled = false> struct AdamFields { WEFT_HYPER_PARAMETERS(AdamFields, WEFT_ADAM_FIELDS) };
using AdamOptions = AdamFields<AsOptions>;
using AdamWOptions = AdamFields<AsOptions, true>;

#define WEFT_RMSPROP_FIELDS(ROW)                                                                            \
  ROW(Number, lr, 1e-2, not_negative)                                                                       \
  ROW(Number, alpha, 0.99, fraction) /* decay of the mean square */                                         \
  ROW(Number, eps, 1e-8, not_negative)                                                                      \
  ROW(Number, weight_decay, 0.0, not_negative) /* L2: added to the gradient */                              \
  ROW(Number, momentum, 0.0, not_negative)                                                                  \
  ROW(Switch, centered, false, any) /* divides by the standard deviation instead of the root mean square */ \
  ROW(Switch, maximize, false, any) /* ascends instead */                                                   \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct RMSpropFields { WEFT_HYPER_PARAMETERS(RMSpropFields, WEFT_RMSPROP_FIELDS) };
using RMSpropOptions = RMSpropFields<AsOptions>;

#define WEFT_ADAGRAD_FIELDS(ROW)                                                                                    \
  ROW(Number, lr, 1e-2, not_negative)                                                                               \
  ROW(Number, lr_decay, 0.0, not_negative)                  /* the rate of step t is lr / (1 + (t - 1) lr_decay) */ \
  ROW(Number, weight_decay, 0.0, not_negative)              /* L2: added to the gradient */                         \
  ROW(Number, initial_accumulator_value, 0.0, not_negative) /* the sum of squares before the first step */          \
  ROW(Number, eps, 1e-10, not_negative)                                                                             \
  ROW(Switch, maximize, false, any) /* ascends instead */                                                           \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct AdagradFields { WEFT_HYPER_PARAMETERS(AdagradFields, WEFT_ADAGRAD_FIELDS) };
using AdagradOptions = AdagradFields<AsOptions>;

#define WEFT_ADADELTA_FIELDS(ROW)                                               \
  ROW(Number, lr, 1.0, not_negative)                                            \
  ROW(Number, rho, 0.9, fraction)              /* decay of both mean squares */ \
  ROW(Number, eps, 1e-6, not_negative)         /* inside of the roots */        \
  ROW(Number, weight_decay, 0.0, not_negative) /* L2: added to the gradient */  \
  ROW(Switch, maximize, false, any)            /* ascends instead */            \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct AdadeltaFields { WEFT_HYPER_PARAMETERS(AdadeltaFields, WEFT_ADADELTA_FIELDS) };
using AdadeltaOptions = AdadeltaFields<AsOptions>;

#define WEFT_ADAMAX_FIELDS(ROW)                                                \
  ROW(Number, lr, 2e-3, not_negative)                                          \
  ROW(Number, beta1, 0.9, fraction)   /* decay of the mean */                  \
  ROW(Number, beta2, 0.999, fraction) /* decay of the largest size */          \
  ROW(Number, eps, 1e-8, not_negative)                                         \
  ROW(Number, weight_decay, 0.0, not_negative) /* L2: added to the gradient */ \
  ROW(Switch, maximize, false, any)            /* ascends instead */           \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct AdamaxFields { WEFT_HYPER_PARAMETERS(AdamaxFields, WEFT_ADAMAX_FIELDS) };
using AdamaxOptions = AdamaxFields<AsOptions>;

#define WEFT_NADAM_FIELDS(ROW)                                                                                   \
  ROW(Number, lr, 2e-3, not_negative)                                                                            \
  ROW(Number, beta1, 0.9, fraction)   /* decay of the mean */                                                    \
  ROW(Number, beta2, 0.999, fraction) /* decay of the mean square */                                             \
  ROW(Number, eps, 1e-8, not_negative)                                                                           \
  ROW(Number, weight_decay, 0.0, not_negative)    /* L2: added to the gradient */                                \
  ROW(Number, momentum_decay, 4e-3, not_negative) /* how fast the momentum reaches beta1 */                      \
  ROW(Switch, decoupled_weight_decay, false, any) /* decay shrinks the parameter by lr * weight_decay instead */ \
  ROW(Switch, maximize, false, any)               /* ascends instead */                                          \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct NAdamFields { WEFT_HYPER_PARAMETERS(NAdamFields, WEFT_NADAM_FIELDS) };
using NAdamOptions = NAdamFields<AsOptions>;

#define WEFT_RADAM_FIELDS(ROW)                                                                                   \
  ROW(Number, lr, 1e-3, not_negative)                                                                            \
  ROW(Number, beta1, 0.9, fraction)   /* decay of the mean */                                                    \
  ROW(Number, beta2, 0.999, fraction) /* decay of the mean square */                                             \
  ROW(Number, eps, 1e-8, not_negative)                                                                           \
  ROW(Number, weight_decay, 0.0, not_negative)    /* L2: added to the gradient */                                \
  ROW(Switch, decoupled_weight_decay, false, any) /* decay shrinks the parameter by lr * weight_decay instead */ \
  ROW(Switch, maximize, false, any)               /* ascends instead */                                          \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct RAdamFields { WEFT_HYPER_PARAMETERS(RAdamFields, WEFT_RADAM_FIELDS) };
using RAdamOptions = RAdamFields<AsOptions>;

#define WEFT_LION_FIELDS(ROW)                                                                   \
  ROW(Number, lr, 1e-4, not_negative)                                                           \
  ROW(Number, beta1, 0.9, fraction)            /* the mean's share of what gives the sign */    \
  ROW(Number, beta2, 0.99, fraction)           /* decay of the mean */                          \
  ROW(Number, weight_decay, 0.0, not_negative) /* shrinks the parameter by lr * weight_decay */ \
  ROW(Switch, maximize, false, any)            /* ascends instead */                            \
  WEFT_HALF_PRECISION_FIELDS(ROW)
template <class As> struct LionFields { WEFT_HYPER_PARAMETERS(LionFields, WEFT_LION_FIELDS) };
using LionOptions = LionFields<AsOptions>;

}  // namespace weft::optim
