#include "tests/reference/rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft::testing::reference {

namespace {

template <class F> double total(const Row& x, const F& f) {
  long double out = 0;
  for (const double v : x) out += f(v);
  return static_cast<double>(out);
}

}  // namespace

double sum(const Row& x) {
  return total(x, [](double v) { return v; });
}
double prod(const Row& x) { return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>()); }
double mean(const Row& x) { return sum(x) / static_cast<double>(x.size()); }

double max(const Row& x) {
  double out = -std::numeric_limits<double>::infinity();
  for (const double v : x) out = std::isnan(v) || std::isnan(out) ? v + out : std::max(v, out);
  return out;
}
double min(const Row& x) {
  double out = std::numeric_limits<double>::infinity();
  for (const double v : x) out = std::isnan(v) || std::isnan(out) ? v + out : std::min(v, out);
  return out;
}

bool any(const Row& x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; });
}
bool all(const Row& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; });
}
double count_nonzero(const Row& x) {
  return total(x, [](double v) { return v != 0 ? 1.0 : 0.0; });
}

double variance(const Row& x, double correction) {
  const double middle = mean(x);
  return total(x, [&](double v) { return (v - middle) * (v - middle); }) / (static_cast<double>(x.size()) - correction);
}

double norm(const Row& x, double p) {
  if (p == 0) return count_nonzero(x);
  Row sizes;
  for (const double v : x) sizes.push_back(std::isinf(p) ? std::abs(v) : std::pow(std::abs(v), p));
  if (std::isinf(p)) return sizes.empty() ? 0 : max(sizes);
  return std::pow(sum(sizes), 1 / p);
}

double logsumexp(const Row& x) {
  const double top = max(x);
  if (!std::isfinite(top)) return top;
  long double out = 0;
  for (const double v : x) out += std::exp(static_cast<long double>(v - top));
  return top + static_cast<double>(std::log(out));
}

size_t first_extreme(const Row& x, bool largest) {
  size_t best = 0;
  for (size_t i = 1; i < x.size() && !std::isnan(x[best]); ++i)
    if (std::isnan(x[i]) || (largest ? x[i] > x[best] : x[i] < x[best])) best = i;
  return best;
}

std::vector<size_t> order(const Row& x, bool descending) {
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::vector<size_t> out(x.size());
  std::iota(out.begin(), out.end(), size_t{0});
  std::stable_sort(out.begin(), out.end(),
                   [&](size_t i, size_t j) { return descending ? less(x[j], x[i]) : less(x[i], x[j]); });
  return out;
}

Row softmax(const Row& x) {
  const double top = max(x);
  Row out;
  for (const double v : x) out.push_back(std::exp(v - top));
  const double whole = sum(out);
  for (double& v : out) v /= whole;
  return out;
}

Row log_softmax(const Row& x) {
  const double top = max(x);
  long double sum = 0;
  for (const double v : x) sum += std::exp(static_cast<long double>(v - top));
  Row out;
  for (const double v : x) out.push_back(v - top - static_cast<double>(std::log(sum)));
  return out;
}

Row softmax_gradient(const Row& g, const Row& y) {
  double dot = 0;
  for (size_t i = 0; i < y.size(); ++i) dot += g[i] * y[i];
  Row out;
  for (size_t i = 0; i < y.size(); ++i) out.push_back(y[i] * (g[i] - dot));
  return out;
}

Row log_softmax_gradient(const Row& g, const Row& y) {
  const double whole = sum(g);
  Row out;
  for (size_t i = 0; i < y.size(); ++i) out.push_back(g[i] - std::exp(y[i]) * whole);
  return out;
}

}  // namespace weft::testing::reference
