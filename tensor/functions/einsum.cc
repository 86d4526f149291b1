#include "tensor/functions/einsum.h"

#include <algorithm>
#include <array>

#include "tensor/core/einsum_equation.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

using detail::kMostLabels;
using detail::Labels;
using Flags = std::array<bool, kMostLabels>;

/// A tensor and the label of each of its axes.
struct Term {
  Tensor tensor;
  Labels labels;

  bool has(int label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
  int64_t size_of(int label) const {
    return tensor.size(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
};

/// Each label once: its diagonal where it names two axes.
Term with_diagonals(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t k = i + 1; k < term.labels.size();) {
      if (term.labels[k] != term.labels[i]) {
        ++k;
        continue;
      }
      const auto first = static_cast<int64_t>(i), second = static_cast<int64_t>(k);
      term.tensor = movedim(diagonal(term.tensor, 0, first, second), -1, first);
      term.labels.erase(term.labels.begin() + second);
    }
  return term;
}

/// Without axes of size 1 that broadcast against a longer one.
Term without_broadcast(Term term, const std::array<int64_t, kMostLabels>& sizes) {
  for (size_t i = term.labels.size(); i-- > 0;) {
    const auto axis = static_cast<int64_t>(i);
    if (term.tensor.size(axis) != 1 || sizes[static_cast<size_t>(term.labels[i])] == 1) continue;
    term.tensor = squeeze(term.tensor, axis);
    term.labels.erase(term.labels.begin() + axis);
  }
  return term;
}

/// Summed over the labels that are not `kept`.
Term summed(Term term, const Flags& kept) {
  IntList axes;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (kept[static_cast<size_t>(term.labels[i])])
      left.push_back(term.labels[i]);
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return term;
  return {sum(term.tensor, axes), left};
}

/// The axes of `term` in the order of `labels`, those that it does not have left out.
Tensor in_order(const Term& term, const Labels& labels) {
  IntList axes;
  for (const int label : labels) {
    const auto found = std::find(term.labels.begin(), term.labels.end(), label);
    if (found != term.labels.end()) axes.push_back(found - term.labels.begin());
  }
  return permute(term.tensor, axes);
}

/// The element-wise product, for labels of which none is summed.
Term multiplied(const Term& a, const Term& b) {
  Labels labels = a.labels;
  for (const int label : b.labels)
    if (!a.has(label)) labels.push_back(label);
  Tensor left = a.tensor, right = in_order(b, labels);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!a.has(labels[i])) left = unsqueeze(left, static_cast<int64_t>(i));
    if (!b.has(labels[i])) right = unsqueeze(right, static_cast<int64_t>(i));
  }
  return {left * right, labels};
}

int64_t product_of(const Term& term, const Labels& labels) {
  int64_t out = 1;
  for (const int label : labels) out = checked_multiply(out, term.size_of(label));
  return out;
}

Labels joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// What remains of a times b once the labels that are not `kept` are summed: a matrix product over the axes they share.
Term contracted(Term a, Term b, const Flags& kept) {
  Flags kept_of_a = kept, kept_of_b = kept;
  for (const int label : b.labels) kept_of_a[static_cast<size_t>(label)] = true;
  for (const int label : a.labels) kept_of_b[static_cast<size_t>(label)] = true;
  a = summed(std::move(a), kept_of_a), b = summed(std::move(b), kept_of_b);
  Labels batch, rows, inner, columns;
  for (const int label : a.labels)
    (!b.has(label) ? rows : kept[static_cast<size_t>(label)] ? batch : inner).push_back(label);
  for (const int label : b.labels)
    if (!a.has(label)) columns.push_back(label);
  if (inner.empty()) return multiplied(a, b);
  const int64_t m = product_of(a, rows), k = product_of(a, inner), n = product_of(b, columns);
  Shape left{m, k}, right{k, n}, result;
  if (!batch.empty()) left.insert(0, product_of(a, batch)), right.insert(0, left[0]);
  for (const int label : joined(batch, rows)) result.push_back(a.size_of(label));
  for (const int label : columns) result.push_back(b.size_of(label));
  const Tensor product = matmul(reshape(in_order(a, joined(joined(batch, rows), inner)), left),
                                reshape(in_order(b, joined(joined(batch, inner), columns)), right));
  return {reshape(product, result), joined(joined(batch, rows), columns)};
}

/// The labels that the output or a term other than `first` and `second` has.
Flags kept_labels(const std::vector<Term>& terms, const Labels& output, size_t first, size_t second) {
  Flags kept{};
  for (const int label : output) kept[static_cast<size_t>(label)] = true;
  for (size_t i = 0; i < terms.size(); ++i)
    if (i != first && i != second)
      for (const int label : terms[i].labels) kept[static_cast<size_t>(label)] = true;
  return kept;
}

/// By how many elements memory grows where these two are contracted: the less, the sooner. A double, as it may be huge.
double growth(const Term& a, const Term& b, const Flags& kept) {
  double size = 1;
  for (const int label : a.labels)
    if (kept[static_cast<size_t>(label)]) size *= static_cast<double>(a.size_of(label));
  for (const int label : b.labels)
    if (kept[static_cast<size_t>(label)] && !a.has(label)) size *= static_cast<double>(b.size_of(label));
  return size - static_cast<double>(a.tensor.numel()) - static_cast<double>(b.tensor.numel());
}

/// Contracts the pair that shrinks most until one term is left. Two terms, the common case, are contracted as they
/// stand.
Term contract_all(std::vector<Term> terms, const Labels& output) {
  while (terms.size() > 1) {
    size_t first = 0, second = 1;
    double best = 0;
    for (size_t i = 0; terms.size() > 2 && i < terms.size(); ++i)
      for (size_t k = i + 1; k < terms.size(); ++k) {
        const double now = growth(terms[i], terms[k], kept_labels(terms, output, i, k));
        if ((i == 0 && k == 1) || now < best) best = now, first = i, second = k;
      }
    terms[first] = contracted(terms[first], terms[second], kept_labels(terms, output, first, second));
    terms.erase(terms.begin() + static_cast<int64_t>(second));
  }
  return summed(std::move(terms[0]), kept_labels({}, output, 0, 0));
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  ErrorFrame frame("einsum", std::span<const Tensor>(operands));
  std::vector<Shape> shapes;
  for (const Tensor& x : operands) shapes.push_back(x.shape());
  const detail::Equation spelled = detail::read_equation(equation, shapes);
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i)
    terms.push_back(without_broadcast(with_diagonals({operands[i], spelled.inputs[i]}), spelled.sizes));
  return in_order(contract_all(std::move(terms), spelled.output), spelled.output);
}

}  // namespace weft
