// What mutate.py writes into the gradient rules: each place that can be broken asks whether the mutant of its number
// is on. The environment says which one is (WEFT_MUTANT=NUMBER) and where to list those that ran
// (WEFT_MUTANTS_REACHED=FILE).
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <fstream>
#include <type_traits>
#include <vector>

#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::mutant {

class Registry {
 public:
  static Registry& get() {
    static Registry registry;
    return registry;
  }
  bool on(int number) {
    if (number < count) reached_[number] = 1;
    return number == active_;
  }

 private:
  static constexpr int count = 8192;
  Registry() {
    if (const char* number = std::getenv("WEFT_MUTANT")) active_ = std::atoi(number);
  }
  ~Registry() {
    const char* path = std::getenv("WEFT_MUTANTS_REACHED");
    if (!path) return;
    std::ofstream out(path);
    for (int i = 0; i < count; ++i)
      if (reached_[i]) out << i << '\n';
  }
  int active_ = -1;
  std::array<char, count> reached_{};
};

inline bool on(int number) { return Registry::get().on(number); }

// `a + b` becomes `a + mutant::Plus(n) + b`: mutant n is a - b, mutant n + 1 leaves b out. The precedence stays.
struct Plus {
  int number;
  explicit Plus(int n) : number(n) {}
};
struct Minus {
  int number;
  explicit Minus(int n) : number(n) {}
};
struct Times {
  int number;
  explicit Times(int n) : number(n) {}
};
struct Over {
  int number;
  explicit Over(int n) : number(n) {}
};
template <class A, class Sign> struct Left {
  const A& value;
  int number;
};

template <class A> Left<A, Plus> operator+(const A& a, Plus sign) { return {a, sign.number}; }
template <class A> Left<A, Minus> operator-(const A& a, Minus sign) { return {a, sign.number}; }
template <class A> Left<A, Times> operator*(const A& a, Times sign) { return {a, sign.number}; }
template <class A> Left<A, Over> operator/(const A& a, Over sign) { return {a, sign.number}; }

/// A number beside a tensor.
template <class Whole, class A>
inline constexpr bool kIsNumberBeside = std::is_arithmetic_v<A>&& std::same_as<Whole, Tensor>;
/// The second mutant of a sign; none where the left side alone cannot be the result.
template <class Whole, class A> bool dropped(int number) {
  if constexpr (std::convertible_to<A, Whole> || kIsNumberBeside<Whole, A>)
    return on(number + 1);
  else
    return false;
}
template <class Whole, class A> Whole alone(const A& a, const Whole& whole) {
  if constexpr (std::convertible_to<A, Whole>)
    return a;
  else if constexpr (kIsNumberBeside<Whole, A>)
    return full_like(whole, a);
  else
    return whole;
}
template <class A, class Right, class Wrong> auto pick(const A& a, int number, Right right, Wrong wrong) {
  using Whole = std::remove_cvref_t<decltype(right())>;
  const bool flip = on(number), drop = dropped<Whole, A>(number);
  if (flip) return static_cast<Whole>(wrong());
  Whole whole = right();
  return drop ? alone<Whole>(a, whole) : whole;
}

template <class A, class B> auto operator+(Left<A, Plus> a, const B& b) {
  return pick(
      a.value, a.number, [&] { return a.value + b; }, [&] { return a.value - b; });
}
template <class A, class B> auto operator-(Left<A, Minus> a, const B& b) {
  return pick(
      a.value, a.number, [&] { return a.value - b; }, [&] { return a.value + b; });
}
template <class A, class B> auto operator*(Left<A, Times> a, const B& b) {
  return pick(
      a.value, a.number, [&] { return a.value * b; }, [&] { return a.value / b; });
}
template <class A, class B> auto operator/(Left<A, Over> a, const B& b) {
  return pick(
      a.value, a.number, [&] { return a.value / b; }, [&] { return a.value * b; });
}

/// `-x` becomes `mutant::Negative(n) * x`; the mutant is x.
struct Negative {
  int number;
  explicit Negative(int n) : number(n) {}
};
template <class A> auto operator*(Negative sign, const A& a) -> std::remove_cvref_t<decltype(-a)> {
  if (on(sign.number)) return a;
  return -a;
}

/// `x.t()` becomes `x.t() ->* mutant::Transposed(n)`; the mutant is x (of square matrices: else the shapes disagree).
struct Transposed {
  int number;
  explicit Transposed(int n) : number(n) {}
};
inline Tensor operator->*(const Tensor& x, Transposed sign) {
  return on(sign.number) && x.rank() >= 2 ? transpose(x, -2, -1) : x;
}

/// A number in a formula.
inline double number(int n, double value) { return on(n) ? value + 0.37 : value; }
/// What a rule returns: mutant n + i has the other sign in gradient i and, so that zeros are told as well, is a
/// little more.
inline Tensor wrong(const Tensor& x) { return -x + 0.01; }
/// A list in braces, whatever the rule's type for lists is.
struct List : std::vector<Tensor> {
  using std::vector<Tensor>::vector;
  template <size_t N> operator std::array<Tensor, N>() const {
    std::array<Tensor, N> out;
    for (size_t i = 0; i < N && i < size(); ++i) out[i] = (*this)[i];
    return out;
  }
};
template <class T> auto result(int n, const T& value) {
  if constexpr (std::derived_from<T, Tensor>) {
    return value.defined() && on(n) ? wrong(value) : Tensor(value);
  } else if constexpr (requires { value.size(), value[0].defined(); }) {
    T out = value;
    for (size_t i = 0; i < out.size() && i < 8; ++i)
      if (out[i].defined() && on(n + static_cast<int>(i))) out[i] = wrong(out[i]);
    return out;
  } else {
    return value;
  }
}

}  // namespace weft::mutant
