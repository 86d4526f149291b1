#include "tensor/functions/einsum.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tensor/core/einsum_equation.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/modes.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
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

/// Whether terms of the same labels, some of them summed, are faster multiplied element by element than as products of
/// one row and one column: where there are many of these, of short rows or of rows that lie across memory.
bool prefers_elements(const Term& a, const Term& b, const Labels& batch, const Labels& inner) {
  constexpr int64_t kMany = 16, kShort = 64, kMost = int64_t{1} << 18;  // what is multiplied takes memory
  const DType dtype = a.tensor.dtype();
  if (dtype == boolean || internal::modes().autocast != f32) return false;
  if (std::max(dispatch::all_samples(a.tensor).numel(), dispatch::all_samples(b.tensor).numel()) > kMost) return false;
  if (product_of(a, batch) < kMany) return false;
  return product_of(a, inner) <= kShort || !in_order(a, joined(batch, inner)).is_contiguous();
}

/// Their product, summed; in f32 for 16 bits.
Term summed_product(Term a, Term b, const Flags& kept) {
  const DType dtype = promote(a.tensor.dtype(), b.tensor.dtype());
  if (is_half_precision(dtype)) a.tensor = cast(a.tensor, f32), b.tensor = cast(b.tensor, f32);
  Term out = summed(multiplied(a, b), kept);
  out.tensor = cast(out.tensor, dtype);
  return out;
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
  if (rows.empty() && columns.empty() && prefers_elements(a, b, batch, inner)) return summed_product(a, b, kept);
  const int64_t m = product_of(a, rows), k = product_of(a, inner), n = product_of(b, columns);
  Shape left{m, k}, right{k, n}, result;
  if (!batch.empty()) left.insert(0, product_of(a, batch)), right.insert(0, left[0]);
  for (const int label : joined(batch, rows)) result.push_back(a.size_of(label));
  for (const int label : columns) result.push_back(b.size_of(label));
  const Tensor product = matmul(reshape(in_order(a, joined(joined(batch, rows), inner)), left),
                                reshape(in_order(b, joined(joined(batch, inner), columns)), right));
  return {reshape(product, result), joined(joined(batch, rows), columns)};
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

/// Contracts the pair that shrinks most, of equal ones the first, until one term is left. Two terms, the common case,
/// are contracted as they stand. Each term knows its best partner among those after it. A contraction changes only what
/// pairs with its two terms gain: its result has the labels that other terms share with them.
class Contraction {
 public:
  Contraction(std::vector<Term> terms, const Labels& output) : terms_(std::move(terms)) {
    count(output, 1);
    for (const Term& term : terms_) count(term.labels, 1);
  }

  Term run() {
    for (size_t i = 0; terms_.size() > 2 && i < terms_.size(); ++i) partners_.push_back(best_partner(i));
    while (terms_.size() > 1) {
      size_t first = 0;
      for (size_t i = 1; i < partners_.size(); ++i)
        if (partners_[i].growth < partners_[first].growth) first = i;
      contract(first, partners_.empty() ? 1 : partners_[first].at);
    }
    Flags kept{};
    for (const int label : terms_[0].labels)
      kept[static_cast<size_t>(label)] = holders_[static_cast<size_t>(label)] > 1;
    return summed(std::move(terms_[0]), kept);
  }

 private:
  struct Partner {
    size_t at;
    double growth;
  };

  void count(const Labels& labels, int by) {
    for (const int label : labels) holders_[static_cast<size_t>(label)] += by;
  }
  /// Those labels of a and b that the output or another term has.
  Flags kept_labels(const Term& a, const Term& b) const {
    Flags kept{};
    for (const int label : a.labels)
      kept[static_cast<size_t>(label)] = holders_[static_cast<size_t>(label)] > (b.has(label) ? 2 : 1);
    for (const int label : b.labels)
      kept[static_cast<size_t>(label)] = holders_[static_cast<size_t>(label)] > (a.has(label) ? 2 : 1);
    return kept;
  }
  double growth_of(size_t i, size_t k) const { return growth(terms_[i], terms_[k], kept_labels(terms_[i], terms_[k])); }
  /// The last term has none.
  Partner best_partner(size_t i) const {
    Partner best{i + 1, std::numeric_limits<double>::infinity()};
    for (size_t k = i + 1; k < terms_.size(); ++k)
      if (const double now = growth_of(i, k); now < best.growth) best = {k, now};
    return best;
  }

  void contract(size_t first, size_t second) {
    Term &a = terms_[first], &b = terms_[second];
    const Flags kept = kept_labels(a, b);
    count(a.labels, -1), count(b.labels, -1);
    a = contracted(std::move(a), std::move(b), kept);
    count(a.labels, 1);
    terms_.erase(terms_.begin() + static_cast<int64_t>(second));
    if (partners_.empty()) return;
    partners_.erase(partners_.begin() + static_cast<int64_t>(second));
    for (size_t i = 0; i < partners_.size(); ++i) {
      Partner& best = partners_[i];
      const bool lost = i == first || best.at == first || best.at == second;
      if (best.at > second) --best.at;
      if (lost && i < second) {
        best = best_partner(i);
      } else if (i < first) {
        const double now = growth_of(i, first);
        if (now < best.growth || (now == best.growth && first < best.at)) best = {first, now};
      }
    }
  }

  std::vector<Term> terms_;
  std::vector<Partner> partners_;
  std::array<int, kMostLabels> holders_{};  // how many terms, and the output, have each label
};

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  ErrorFrame frame("einsum", std::span<const Tensor>(operands));
  std::vector<Shape> shapes;
  for (const Tensor& x : operands) shapes.push_back(x.shape());
  const detail::Equation spelled = detail::read_equation(equation, shapes);
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i)
    terms.push_back(without_broadcast(with_diagonals({operands[i], spelled.inputs[i]}), spelled.sizes));
  return in_order(Contraction(std::move(terms), spelled.output).run(), spelled.output);
}

}  // namespace weft
