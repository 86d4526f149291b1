// Hyper-parameters of the optimizers that are composed of ops, in the form of tensor/core/hyper_parameters.h.
#pragma once

#include "tensor/core/hyper_parameters.h"

namespace weft::optim {

template <class As> struct LAMBFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-3);
  Number beta1 = As::initial(0.9);    // decay of the mean
  Number beta2 = As::initial(0.999);  // decay of the mean square
  Number eps = As::initial(1e-6);
  Number weight_decay = As::initial(1e-2);  // part of the change whose norm is scaled
  Switch maximize = As::initial(false);     // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const LAMBFields&) const = default;
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
using LAMBOptions = LAMBFields<AsOptions>;

template <class As> struct ASGDFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-2);
  Number lambd = As::initial(1e-4);        // decay of the parameter, and of the rate
  Number alpha = As::initial(0.75);        // the power of the rate's decay
  Number t0 = As::initial(1e6);            // steps before the mean begins
  Number weight_decay = As::initial(0.0);  // L2: added to the gradient
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const ASGDFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("lambd", self.lambd, Range::not_negative);
    visit("alpha", self.alpha, Range::any);
    visit("t0", self.t0, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using ASGDOptions = ASGDFields<AsOptions>;

template <class As> struct RpropFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-2);        // the first step size of every element
  Number eta_minus = As::initial(0.5);  // factor of a step size where the gradient's sign changed
  Number eta_plus = As::initial(1.2);   // where it stayed
  Number min_step = As::initial(1e-6);
  Number max_step = As::initial(50.0);
  Switch maximize = As::initial(false);  // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const RpropFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("eta_minus", self.eta_minus, Range::fraction);
    visit("eta_plus", self.eta_plus, Range::not_negative);
    visit("min_step", self.min_step, Range::not_negative);
    visit("max_step", self.max_step, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
  /// Why the fields do not go together; null where they do.
  const char* conflict() const {
    if (!(eta_plus > 1 && eta_minus > 0)) return "eta_minus must be in (0, 1) and eta_plus above 1";
    return min_step <= max_step ? nullptr : "min_step is above max_step";
  }
};
using RpropOptions = RpropFields<AsOptions>;

template <class As> struct AdafactorFields {
  using Number = typename As::Number;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-2);           // the largest relative rate
  Number beta2_decay = As::initial(-0.8);  // the mean square keeps 1 - t^beta2_decay of itself
  Number eps1 = As::initial(0.0);          // floor of the root mean square; 0: the dtype's epsilon
  Number eps2 = As::initial(1e-3);         // floor of the parameter's scale
  Number d = As::initial(1.0);             // the change is clipped to this root mean square
  Number weight_decay = As::initial(0.0);  // shrinks the parameter by lr * weight_decay
  Switch maximize = As::initial(false);    // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const AdafactorFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("beta2_decay", self.beta2_decay, Range::any);
    visit("eps1", self.eps1, Range::not_negative);
    visit("eps2", self.eps2, Range::not_negative);
    visit("d", self.d, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
  /// Why the fields do not go together; null where they do.
  const char* conflict() const {
    return beta2_decay <= 0 && d >= 1 ? nullptr : "beta2_decay must be 0 or less, and d 1 or more";
  }
};
using AdafactorOptions = AdafactorFields<AsOptions>;

/// ns_a, ns_b, ns_c: the coefficients of a Newton-Schulz iteration. The rate is lr sqrt(max(1, rows / columns)), with
/// match_rms_adamw 0.2 lr sqrt(max(rows, columns)).
template <class As> struct MuonFields {
  using Number = typename As::Number;
  using Count = typename As::Count;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1e-3);
  Number weight_decay = As::initial(0.1);  // shrinks the parameter by lr * weight_decay
  Number momentum = As::initial(0.95);
  Switch nesterov = As::initial(true);
  Number ns_a = As::initial(3.4445);
  Number ns_b = As::initial(-4.7750);
  Number ns_c = As::initial(2.0315);
  Number eps = As::initial(1e-7);               // floor of the norm that the change is divided by
  Count ns_steps = As::initial(int64_t{5});     // iterations
  Switch match_rms_adamw = As::initial(false);  // as large as a change of AdamW's: Liu et al., arXiv 2502.16982
  Switch maximize = As::initial(false);         // climbs instead
  WEFT_HALF_PRECISION_FIELDS;

  bool operator==(const MuonFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("weight_decay", self.weight_decay, Range::not_negative);
    visit("momentum", self.momentum, Range::fraction);
    visit("nesterov", self.nesterov, Range::any);
    visit("ns_a", self.ns_a, Range::any);
    visit("ns_b", self.ns_b, Range::any);
    visit("ns_c", self.ns_c, Range::any);
    visit("eps", self.eps, Range::not_negative);
    visit("ns_steps", self.ns_steps, Range::not_negative);
    visit("match_rms_adamw", self.match_rms_adamw, Range::any);
    visit("maximize", self.maximize, Range::any);
    visit_half_precision(self, visit);
  }
};
using MuonOptions = MuonFields<AsOptions>;

template <class As> struct LBFGSFields {
  using Number = typename As::Number;
  using Count = typename As::Count;
  using Switch = typename As::Switch;

  [[no_unique_address]] typename As::Parameters parameters = As::none;
  Number lr = As::initial(1.0);                    // length of a step, the first guess of the line search
  Count max_iter = As::initial(int64_t{20});       // iterations of a step
  Count max_eval = As::initial(int64_t{0});        // calls of the closure in a step; 0: max_iter * 5 / 4
  Number tolerance_grad = As::initial(1e-7);       // ends a step where no element of the gradient is larger
  Number tolerance_change = As::initial(1e-9);     // ends it where loss or parameters change less
  Count history_size = As::initial(int64_t{100});  // pairs that the inverse Hessian is made of
  Switch line_search = As::initial(false);         // strong Wolfe conditions
  Switch maximize = As::initial(false);            // climbs instead

  bool operator==(const LBFGSFields&) const = default;
  static constexpr void fields(auto& self, auto visit) {
    visit("lr", self.lr, Range::not_negative);
    visit("max_iter", self.max_iter, Range::not_negative);
    visit("max_eval", self.max_eval, Range::not_negative);
    visit("tolerance_grad", self.tolerance_grad, Range::not_negative);
    visit("tolerance_change", self.tolerance_change, Range::not_negative);
    visit("history_size", self.history_size, Range::not_negative);
    visit("line_search", self.line_search, Range::any);
    visit("maximize", self.maximize, Range::any);
  }
  /// Why the fields do not go together; null where they do.
  const char* conflict() const {
    return max_iter > 0 && history_size > 0 ? nullptr : "max_iter and history_size must be 1 or more";
  }
};
using LBFGSOptions = LBFGSFields<AsOptions>;

}  // namespace weft::optim
