// Naive functions of one row. Sums are of long double: what they lose must not show beside a kernel in f64.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

double sum(const Row& x);
double prod(const Row& x);
double mean(const Row& x);
/// NaN where one is among them.
double max(const Row& x);
double min(const Row& x);
bool any(const Row& x);
bool all(const Row& x);
double count_nonzero(const Row& x);
double variance(const Row& x, double correction);
/// (sum of |x|^p)^(1/p); the largest for infinity, the number of elements that are not 0 for 0.
double norm(const Row& x, double p);
double logsumexp(const Row& x);

/// The first place of the largest (smallest) element; the first NaN comes before everything.
size_t first_extreme(const Row& x, bool largest);
/// The places in ascending (descending) order, equal elements as they come; NaN is the largest.
std::vector<size_t> order(const Row& x, bool descending);

Row softmax(const Row& x);
Row log_softmax(const Row& x);
/// What of g flows back through y = softmax(x), and through y = log_softmax(x).
Row softmax_gradient(const Row& g, const Row& y);
Row log_softmax_gradient(const Row& g, const Row& y);

}  // namespace weft::testing::reference
