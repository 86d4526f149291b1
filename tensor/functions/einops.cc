#include "tensor/functions/einops.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

/// One axis of a side: the names that it merges; none for an axis of size 1.
struct Group : std::vector<std::string> {
  bool in_parentheses = false;
};

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

const std::string kDots = "...";

/// A side of a pattern, read from left to right.
class Side {
 public:
  /// `numbers` counts the axes that have a size for a name.
  Side(std::string_view side, int& numbers) : text_(side), numbers_(numbers) {
    while (skip_spaces()) {
      if (text_[at_] == '(') {
        ++at_;
        groups.push_back(read_group());
      } else {
        groups.emplace_back();
        if (std::string name = read_name(); !name.empty()) groups.back().push_back(std::move(name));
      }
    }
  }
  std::vector<Group> groups;
  std::map<std::string, int64_t> sizes;  // of axes that are written as numbers

 private:
  /// Whether something follows.
  bool skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size();
  }
  Group read_group() {
    Group group;
    group.in_parentheses = true;
    while (true) {
      if (!skip_spaces()) throw Error(text("a ( in `", text_, "` is not closed"));
      if (text_[at_] == ')') {
        ++at_;
        return group;
      }
      if (std::string name = read_name(); !name.empty()) group.push_back(std::move(name));
    }
  }
  /// The name of an axis that is written as its size: one of its own, `3#0`.
  std::string read_number() {
    const size_t start = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    const std::string_view digits = text_.substr(start, at_ - start);
    int64_t size = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error != std::errc() || end != digits.data() + digits.size() || size < 1)
      throw Error(text("`", digits, "` in `", text_, "` is not a size of an axis: 1 or more"));
    if (size == 1) return {};
    std::string name = std::to_string(size) + '#' + std::to_string(numbers_++);
    sizes[name] = size;
    return name;
  }
  /// A name, `...`, or nothing for 1.
  std::string read_name() {
    const size_t start = at_;
    if (text_.substr(at_, 3) == kDots) {
      at_ += 3;
    } else if (is_name_start(text_[at_])) {
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      return read_number();
    } else {
      throw Error(text("`", text_.substr(at_, 1), "` in `", text_, "` is not a name, number, ..., or parenthesis"));
    }
    std::string name(text_.substr(start, at_ - start));
    if (std::find(seen_.begin(), seen_.end(), name) != seen_.end())
      throw Error(text("`", name, "` comes twice in `", text_, "`"));
    seen_.push_back(name);
    return name;
  }

  std::string_view text_;
  int& numbers_;
  size_t at_ = 0;
  std::vector<std::string> seen_;
};

std::vector<std::string> names_of(const std::vector<Group>& groups) {
  std::vector<std::string> out;
  for (const Group& group : groups) out.insert(out.end(), group.begin(), group.end());
  return out;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A pattern with the axes of ... named, and the size of each name.
struct Pattern {
  std::vector<Group> left, right;
  std::map<std::string, int64_t> sizes;
  bool drops_dots = false;  // ... is on the left side only
  int64_t size(const std::string& name) const { return sizes.at(name); }
};

/// ... as names of their own: "...0", "...1". In parentheses it merges them.
void name_dots(std::vector<Group>& groups, int64_t count) {
  for (size_t i = 0; i < groups.size(); ++i) {
    auto dots = std::find(groups[i].begin(), groups[i].end(), kDots);
    if (dots == groups[i].end()) continue;
    std::vector<std::string> names;
    for (int64_t k = 0; k < count; ++k) names.push_back(kDots + std::to_string(k));
    if (groups[i].in_parentheses) {
      dots = groups[i].erase(dots);
      groups[i].insert(dots, names.begin(), names.end());
      continue;
    }
    std::vector<Group> alone;
    for (std::string& name : names) alone.emplace_back().push_back(std::move(name));
    const auto place = groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    groups.insert(place, alone.begin(), alone.end());
    return;
  }
}

/// The sizes of the names of one group that merge into an axis of `whole`.
void find_sizes(const Group& group, int64_t whole, int64_t axis, std::map<std::string, int64_t>& sizes) {
  const std::string* open = nullptr;
  int64_t known = 1;
  for (const std::string& name : group) {
    if (const auto found = sizes.find(name); found != sizes.end()) {
      known = checked_multiply(known, found->second);
    } else if (open != nullptr) {
      throw Error(text("the sizes of `", *open, "` and `", name, "` are not known; give one of them"));
    } else {
      open = &name;
    }
  }
  if (open != nullptr) {
    if (known == 0 || whole % known != 0)
      throw ShapeError(text("axis ", axis, " of size ", whole, " does not split into parts of ", known));
    sizes[*open] = whole / known;
  } else if (known != whole) {
    throw ShapeError(text("axis ", axis, " has size ", whole, ", the pattern says ", known));
  }
}

Pattern parse(const Tensor& x, std::string_view pattern, const AxisSizes& sizes) {
  const size_t arrow = pattern.find("->");
  if (arrow == std::string_view::npos || pattern.find("->", arrow + 2) != std::string_view::npos)
    throw Error(text("`", pattern, "` must have one ->"));
  int numbers = 0;
  Side before(pattern.substr(0, arrow), numbers), after(pattern.substr(arrow + 2), numbers);
  Pattern out{std::move(before.groups), std::move(after.groups), std::move(before.sizes)};
  out.sizes.merge(after.sizes);
  const std::vector<std::string> left = names_of(out.left), right = names_of(out.right);
  out.drops_dots = holds(left, kDots) && !holds(right, kDots);
  if (holds(right, kDots) && !holds(left, kDots)) throw Error(text("`", pattern, "` has ... on the right side only"));
  for (const auto& [name, size] : sizes) {
    if (name == kDots) throw Error("... takes no size, as it stands for any number of axes");
    if (!holds(left, name) && !holds(right, name)) throw Error(text("`", name, "` is not in `", pattern, "`"));
    if (size < 0) throw ShapeError(text("size ", size, " of `", name, "` is negative"));
    out.sizes[name] = size;
  }
  int64_t dots = 0;
  for (const Group& group : out.left) {
    if (holds(group, kDots) && group.in_parentheses)
      throw Error(text("... in parentheses on the left side of `", pattern, "` has no sizes"));
    dots += holds(group, kDots) ? 1 : 0;
  }
  const int64_t named = static_cast<int64_t>(out.left.size()) - dots;
  if (x.rank() < named || (dots == 0 && x.rank() != named))
    throw ShapeError(text("`", pattern, "` has ", named, " axes on the left side, the tensor ", x.rank()));
  name_dots(out.left, x.rank() - named);
  name_dots(out.right, x.rank() - named);
  for (size_t i = 0; i < out.left.size(); ++i)
    find_sizes(out.left[i], x.shape()[i], static_cast<int64_t>(i), out.sizes);
  return out;
}

/// x with one axis per name of the left side.
Tensor split_axes(const Tensor& x, const Pattern& pattern) {
  Shape shape;
  for (const std::string& name : names_of(pattern.left)) shape.push_back(pattern.size(name));
  return reshape(x, shape);
}

/// The axes, one per name of `names`, in the right side's order and merged as it says.
Tensor merge_axes(const Tensor& x, const std::vector<std::string>& names, const Pattern& pattern) {
  IntList order;
  for (const std::string& name : names_of(pattern.right))
    order.push_back(std::find(names.begin(), names.end(), name) - names.begin());
  Shape shape;
  for (const Group& group : pattern.right) {
    int64_t size = 1;
    for (const std::string& name : group) size = checked_multiply(size, pattern.size(name));
    shape.push_back(size);
  }
  return reshape(permute(x, order), shape);
}

/// Error for ... on the left side only, whether it stands for axes of this tensor or for none.
void require_dots(const Pattern& parsed, std::string_view pattern) {
  if (parsed.drops_dots) throw Error(text("`", pattern, "` has ... on the left side only"));
}

/// Every name of `these` must be among `those`.
void require(const std::vector<std::string>& these, const std::vector<std::string>& those, std::string_view pattern) {
  for (const std::string& name : these)
    if (!holds(those, name))
      throw Error(text("`", name.substr(0, name.find('#')), "` is on one side of `", pattern, "` only"));
}

Tensor reduced(const Tensor& x, std::string_view reduction, const Axes& axes) {
  if (reduction == "sum") return sum(x, axes);
  if (reduction == "mean") return mean(x, axes);
  if (reduction == "max") return max(x, axes);
  if (reduction == "min") return min(x, axes);
  if (reduction == "prod") return prod(x, axes);
  if (reduction == "any") return any(x, axes);
  if (reduction == "all") return all(x, axes);
  throw Error(text("`", reduction, "` is none of sum, mean, max, min, prod, any and all"));
}

}  // namespace

Tensor rearrange(const Tensor& x, std::string_view pattern, const AxisSizes& sizes) {
  ErrorFrame frame("rearrange", x);
  const Pattern parsed = parse(x, pattern, sizes);
  require_dots(parsed, pattern);
  const std::vector<std::string> left = names_of(parsed.left), right = names_of(parsed.right);
  require(left, right, pattern);
  require(right, left, pattern);
  return merge_axes(split_axes(x, parsed), left, parsed);
}

Tensor reduce(const Tensor& x, std::string_view pattern, std::string_view reduction, const AxisSizes& sizes) {
  ErrorFrame frame("reduce", x);
  const Pattern parsed = parse(x, pattern, sizes);
  const std::vector<std::string> left = names_of(parsed.left), right = names_of(parsed.right);
  require(right, left, pattern);
  IntList axes;
  std::vector<std::string> kept;
  for (size_t i = 0; i < left.size(); ++i) {
    if (holds(right, left[i]))
      kept.push_back(left[i]);
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  const Tensor whole = split_axes(x, parsed);
  // Over no axes: of each element, for the dtype that the reduction gives.
  const Tensor out = axes.empty() ? reshape(reduced(reshape(whole, {whole.numel(), 1}), reduction, 1), whole.shape())
                                  : reduced(whole, reduction, axes);
  return merge_axes(out, kept, parsed);
}

Tensor repeat(const Tensor& x, std::string_view pattern, const AxisSizes& sizes) {
  ErrorFrame frame("repeat", x);
  const Pattern parsed = parse(x, pattern, sizes);
  require_dots(parsed, pattern);
  std::vector<std::string> left = names_of(parsed.left);
  const std::vector<std::string> right = names_of(parsed.right);
  require(left, right, pattern);
  Tensor out = split_axes(x, parsed);
  Shape shape = out.shape();
  for (const std::string& name : right) {
    if (holds(left, name)) continue;
    if (!parsed.sizes.contains(name)) throw Error(text("the size of `", name, "` is not given"));
    left.push_back(name);
    shape.push_back(parsed.size(name));
    out = unsqueeze(out, -1);
  }
  return merge_axes(expand(out, shape), left, parsed);
}

}  // namespace weft
