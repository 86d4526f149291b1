#include "tests/reference/cross_entropy.h"

#include "tests/reference/rows.h"

namespace weft::testing::reference {

double CrossEntropy::loss() const {
  double out = 0;
  for (size_t c = 0; c < share.size(); ++c) out -= share[c] == 0 ? 0 : share[c] * log_softmax[c];
  return out;
}

Row CrossEntropy::gradient() const {
  Row out;
  for (size_t c = 0; c < share.size(); ++c) out.push_back(sum(share) * std::exp(log_softmax[c]) - share[c]);
  return out;
}

CrossEntropy cross_entropy(const Row& logits, int64_t target, const Row& weights, const CrossEntropyForm& form) {
  CrossEntropy out{{}, log_softmax(logits), 0};
  const double classes = static_cast<double>(logits.size());
  const bool ignored = target == form.ignore_index;
  for (size_t c = 0; c < logits.size(); ++c) {
    const bool chosen = static_cast<int64_t>(c) == target;
    const double share = form.label_smoothing / classes + (chosen ? 1 - form.label_smoothing : 0);
    out.share.push_back(ignored ? 0 : share * weights[c]);
    if (chosen && !ignored) out.weight = weights[c];
  }
  return out;
}

}  // namespace weft::testing::reference
