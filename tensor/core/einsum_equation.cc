#include "tensor/core/einsum_equation.h"

#include <algorithm>
#include <string>

#include "tensor/core/error.h"

namespace weft::detail {
namespace {

constexpr int kEllipsis = -1;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int label_of(char letter) { return letter <= 'Z' ? letter - 'A' : letter - 'a' + 26; }
std::string name_of_label(int label) {
  if (label >= kLetters) return text("'...' axis ", kLetters - 1 - label);
  return text("'", static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26), "'");
}

/// Reads the equation from left to right; errors name the position.
class Reader {
 public:
  explicit Reader(std::string_view equation) : all_(equation) {}

  /// The subscripts up to ',' or '->' or the end: labels, or kEllipsis.
  Labels subscripts() {
    Labels out;
    for (skip_spaces(); at_ < all_.size() && all_[at_] != ',' && all_[at_] != '-'; skip_spaces()) {
      const char c = all_[at_];
      if (c == '.')
        out.push_back(ellipsis(out));
      else if (is_letter(c))
        out.push_back(label_of(c)), ++at_;
      else
        fail(text("'", c, "' is not a letter"));
    }
    return out;
  }
  /// Whether a ',' follows; it is consumed.
  bool comma() {
    if (at_ >= all_.size() || all_[at_] != ',') return false;
    ++at_;
    return true;
  }
  /// Whether '->' follows; it is consumed.
  bool arrow() {
    if (at_ >= all_.size()) return false;
    if (all_.substr(at_, 2) != "->") fail(text("'", all_[at_], "' where '->' is expected"));
    at_ += 2;
    return true;
  }
  void expect_end() {
    if (at_ < all_.size()) fail(text("'", all_[at_], "' after the subscripts of the result"));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(text(what, " at position ", at_, " of \"", std::string(all_), "\""));
  }
  void skip_spaces() {
    while (at_ < all_.size() && all_[at_] == ' ') ++at_;
  }
  int ellipsis(const Labels& before) {
    if (all_.substr(at_, 3) != "...") fail("'.' that is no '...'");
    if (std::find(before.begin(), before.end(), kEllipsis) != before.end()) fail("a second '...' of one operand");
    at_ += 3;
    return kEllipsis;
  }
  std::string_view all_;
  size_t at_ = 0;
};

/// `labels` with the ellipsis replaced by `count` axes, the last of which is the first label after the letters.
Labels spelled_out(const Labels& labels, int64_t count) {
  Labels out;
  for (const int label : labels) {
    if (label != kEllipsis)
      out.push_back(label);
    else
      for (int64_t i = count; i-- > 0;) out.push_back(kLetters + static_cast<int>(i));
  }
  return out;
}

/// The labels of every axis of one operand.
Labels labels_of(const Labels& subscripts, const Shape& shape, size_t operand) {
  const bool open = std::find(subscripts.begin(), subscripts.end(), kEllipsis) != subscripts.end();
  const int64_t named = static_cast<int64_t>(subscripts.size()) - (open ? 1 : 0);
  if (open ? named > shape.rank() : named != shape.rank())
    throw ShapeError(text("operand ", operand, " has shape ", shape, ", but its subscripts name ", named,
                          named == 1 ? " axis" : " axes", open ? " beside '...'" : ""));
  return spelled_out(subscripts, shape.rank() - named);
}

/// Notes the sizes of an operand's labels. Within one operand they are equal; between operands 1 broadcasts.
void add_sizes(Equation& equation, size_t operand, const Shape& shape) {
  const Labels& labels = equation.inputs[operand];
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto first = static_cast<size_t>(std::find(labels.begin(), labels.end(), labels[i]) - labels.begin());
    if (shape[first] != shape[i])
      throw ShapeError(text("label ", name_of_label(labels[i]), " has sizes ", shape[first], " and ", shape[i],
                            " in operand ", operand));
    int64_t& size = equation.sizes[static_cast<size_t>(labels[i])];
    if (size == -1 || size == 1) size = shape[i];
    if (size != shape[i] && shape[i] != 1)
      throw ShapeError(text("label ", name_of_label(labels[i]), " has size ", size, " before and ", shape[i],
                            " in operand ", operand));
  }
}

/// The ellipsis, then the letters that occur once, in order.
Labels implicit_output(const std::vector<Labels>& inputs) {
  std::array<int, kMostLabels> counts{};
  for (const Labels& labels : inputs)
    for (const int label : labels) ++counts[static_cast<size_t>(label)];
  Labels out;
  for (int label = kMostLabels; label-- > kLetters;)
    if (counts[static_cast<size_t>(label)] > 0) out.push_back(label);
  for (int label = 0; label < kLetters; ++label)
    if (counts[static_cast<size_t>(label)] == 1) out.push_back(label);
  return out;
}

void check_output(const Equation& equation) {
  const Labels& output = equation.output;
  for (size_t i = 0; i < output.size(); ++i) {
    if (equation.sizes[static_cast<size_t>(output[i])] == -1)
      throw Error(text("label ", name_of_label(output[i]), " of the result is in no operand"));
    if (std::find(output.begin(), output.begin() + static_cast<int64_t>(i), output[i]) !=
        output.begin() + static_cast<int64_t>(i))
      throw Error(text("label ", name_of_label(output[i]), " is twice in the result"));
  }
}

/// The most axes that an ellipsis stands for.
int64_t ellipsis_axes(const std::vector<Labels>& inputs) {
  int64_t out = 0;
  for (const Labels& labels : inputs)
    out = std::max<int64_t>(out, std::count_if(labels.begin(), labels.end(), [](int l) { return l >= kLetters; }));
  return out;
}

}  // namespace

Equation read_equation(std::string_view equation, const std::vector<Shape>& shapes) {
  Reader reader(equation);
  std::vector<Labels> terms;
  do terms.push_back(reader.subscripts());
  while (reader.comma());
  const bool is_explicit = reader.arrow();
  const Labels result = is_explicit ? reader.subscripts() : Labels();
  reader.expect_end();
  if (terms.size() != shapes.size())
    throw Error(text("\"", std::string(equation), "\" has subscripts for ", terms.size(),
                     terms.size() == 1 ? " operand" : " operands", ", not for ", shapes.size()));
  Equation out;
  out.sizes.fill(-1);
  for (size_t i = 0; i < shapes.size(); ++i) {
    out.inputs.push_back(labels_of(terms[i], shapes[i], i));
    add_sizes(out, i, shapes[i]);
  }
  out.output = is_explicit ? spelled_out(result, ellipsis_axes(out.inputs)) : implicit_output(out.inputs);
  check_output(out);
  return out;
}

}  // namespace weft::detail
