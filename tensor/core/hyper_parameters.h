// Hyper-parameters of the optimizers, each written once. optim/ makes of them the options, the parameter groups (fields
// that may be absent), the state that is saved, the checks and the text; the update kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::optim {

/// The values a number may have.
enum class Range : uint8_t {
  any,
  not_negative,
  fraction,  // [0, 1)
  option,    // a switch that text and files hold only where it is on; a file without it says nothing about it
};

/// Options have no parameters; nothing a user writes makes one, so that a group is never taken for options.
struct NoParameters {
  constexpr explicit NoParameters(std::nullptr_t) {}
  bool operator==(const NoParameters&) const = default;
};

/// The fields as options: values with defaults. (optim/group.h: as a group of parameters.)
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

/// What becomes of parameters and states of 16 bits; fields of every optimizer but L-BFGS. Steps compute in f32 always.
///   master_weights       bf16 and f16 parameters are rounded copies of f32 ones, which the optimizer keeps and saves
///   stochastic_rounding  without masters: rounds new parameters up or down at random, so that small steps add up
///   bf16_states          keeps means and the like in bf16, rounded at random, instead of f32 (f64 for f64 parameters)
#define WEFT_HALF_PRECISION_FIELDS                 \
  Switch master_weights = As::initial(false);      \
  Switch stochastic_rounding = As::initial(false); \
  Switch bf16_states = As::initial(false)

constexpr void visit_half_precision(auto& self, auto& visit) {
  visit("master_weights", self.master_weights, Range::option);
  visit("stochastic_rounding", self.stochastic_rounding, Range::option);
  visit("bf16_states", self.bf16_states, Range::option);
}

// fields(self, visit) calls visit(name, field, range) with every field, "lr" first; switches have Range::any.

template <class As> struct SGDFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-3);
  Number momentum = As::initial(0.0);
  Number dampening = As::initial(0.0);     // of the gradient that enters the momentum
  Number weight_decay = As::initial(0.0);  // L2: added to the gradient
  Switch nesterov = As::initial(false);    // needs momentum, and no dampening
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const SGDFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("momentum", self.momentum, Range::not_negative);
    visit("dampening", self.dampening, Range::any);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("nesterov", self.nesterov, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
  /// Why the fields do not go together; null where they do.
  const char* conflict() const {
    return nesterov && (momentum == 0 || dampening != 0) ? "nesterov needs momentum and no dampening" : nullptr;
  }
};
using SGDOptions = SGDFields<AsOptions>;

/// Adam's, and with `decoupled` AdamW's, where weight decay shrinks the parameter by lr * weight_decay.
template <class As, bool decoupled = false> struct AdamFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-3);
  Number beta1 = As::initial(0.9);    // decay of the mean
  Number beta2 = As::initial(0.999);  // decay of the mean square
  Number eps = As::initial(1e-8);
  Number weight_decay = As::initial(decoupled ? 1e-2 : 0.0);  // L2, added to the gradient, unless decoupled
  Switch amsgrad = As::initial(false);   // divides by the largest mean square so far (Reddi et al., ICLR 2018)
  Switch maximize = As::initial(false);  // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const AdamFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta1", self.beta1, Range::fraction);
    visit("beta2", self.beta2, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("amsgrad", self.amsgrad, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using AdamOptions = AdamFields<AsOptions>;
using AdamWOptions = AdamFields<AsOptions, true>;

template <class As> struct RMSpropFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-2);
  Number alpha = As::initial(0.99);  // decay of the mean square
  Number eps = As::initial(1e-8);
  Number weight_decay = As::initial(0.0);  // L2: added to the gradient
  Number momentum = As::initial(0.0);
  Switch centered = As::initial(false);  // divides by the standard deviation instead of the root mean square
  Switch maximize = As::initial(false);  // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const RMSpropFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("alpha", self.alpha, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("momentum", self.momentum, Range::not_negative);
    visit("centered", self.centered, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using RMSpropOptions = RMSpropFields<AsOptions>;

template <class As> struct AdagradFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-2);
  Number lr_decay = As::initial(0.0);                   // the rate of step t is lr / (1 + (t - 1) lr_decay)
  Number weight_decay = As::initial(0.0);               // L2: added to the gradient
  Number initial_accumulator_value = As::initial(0.0);  // the sum of squares before the first step
  Number eps = As::initial(1e-10);
  Switch maximize = As::initial(false);  // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const AdagradFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("lr_decay", self.lr_decay, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("initial_accumulator_value", self.initial_accumulator_value, Range::not_negative);
    visit("eps", self.eps, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using AdagradOptions = AdagradFields<AsOptions>;

template <class As> struct AdadeltaFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1.0);
  Number rho = As::initial(0.9);           // decay of both mean squares
  Number eps = As::initial(1e-6);          // inside of the roots
  Number weight_decay = As::initial(0.0);  // L2: added to the gradient
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const AdadeltaFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("rho", self.rho, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using AdadeltaOptions = AdadeltaFields<AsOptions>;

template <class As> struct AdamaxFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(2e-3);
  Number beta1 = As::initial(0.9);    // decay of the mean
  Number beta2 = As::initial(0.999);  // decay of the largest size
  Number eps = As::initial(1e-8);
  Number weight_decay = As::initial(0.0);  // L2: added to the gradient
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const AdamaxFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta1", self.beta1, Range::fraction);
    visit("beta2", self.beta2, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using AdamaxOptions = AdamaxFields<AsOptions>;

template <class As> struct NAdamFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(2e-3);
  Number beta1 = As::initial(0.9);    // decay of the mean
  Number beta2 = As::initial(0.999);  // decay of the mean square
  Number eps = As::initial(1e-8);
  Number weight_decay = As::initial(0.0);              // L2: added to the gradient
  Number momentum_decay = As::initial(4e-3);           // how fast the momentum reaches beta1
  Switch decoupled_weight_decay = As::initial(false);  // decay shrinks the parameter by lr * weight_decay instead
  Switch maximize = As::initial(false);                // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const NAdamFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta1", self.beta1, Range::fraction);
    visit("beta2", self.beta2, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("momentum_decay", self.momentum_decay, Range::not_negative);
    visit("decoupled_weight_decay", self.decoupled_weight_decay, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using NAdamOptions = NAdamFields<AsOptions>;

template <class As> struct RAdamFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-3);
  Number beta1 = As::initial(0.9);    // decay of the mean
  Number beta2 = As::initial(0.999);  // decay of the mean square
  Number eps = As::initial(1e-8);
  Number weight_decay = As::initial(0.0);              // L2: added to the gradient
  Switch decoupled_weight_decay = As::initial(false);  // decay shrinks the parameter by lr * weight_decay instead
  Switch maximize = As::initial(false);                // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const RAdamFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta1", self.beta1, Range::fraction);
    visit("beta2", self.beta2, Range::fraction);
    visit("eps", self.eps, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("decoupled_weight_decay", self.decoupled_weight_decay, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using RAdamOptions = RAdamFields<AsOptions>;

template <class As> struct LionFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-4);
  Number beta1 = As::initial(0.9);         // the mean's share of what gives the sign
  Number beta2 = As::initial(0.99);        // decay of the mean
  Number weight_decay = As::initial(0.0);  // shrinks the parameter by lr * weight_decay
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const LionFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta1", self.beta1, Range::fraction);
    visit("beta2", self.beta2, Range::fraction);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using LionOptions = LionFields<AsOptions>;

}  // namespace weft::optim
