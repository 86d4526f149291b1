// Cases of padding with values.
#include <algorithm>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/pad_mode.h"
#include "tensor/ops/pad_mode.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// The entry of a row of `size` that lies at `i`; -1 for the constant.
int64_t source(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::constant: return -1;
    case PadMode::reflect: return i < 0 ? -i : 2 * (size - 1) - i;
    case PadMode::replicate: return std::clamp<int64_t>(i, 0, size - 1);
    case PadMode::circular: return i < 0 ? i + size : i - size;
  }
  return -1;
}

Reference padded(std::vector<Padding> widths, PadMode mode, double value) {
  return [=](const Arrays& x) {
    // Negative widths cut first.
    Index first, size;
    Shape shape;
    for (size_t a = 0; a < widths.size(); ++a) {
      const auto [before, after] = widths[a];
      first.push_back(std::max<int64_t>(-before, 0));
      size.push_back(x[0].shape[a] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
      shape.push_back(x[0].shape[a] + before + after);
    }
    return build(shape, [&](Index i) {
      for (size_t a = 0; a < widths.size(); ++a) {
        const int64_t place = source(mode, i[a] - std::max<int64_t>(widths[a].first, 0), size[a]);
        if (place < 0) return value;
        i[a] = first[a] + place;
      }
      return x[0].at(i);
    });
  };
}

void add(Cases& cases, const std::string& name, const Shape& shape, const std::vector<Padding>& widths, PadMode mode,
         double value = 0) {
  cases
      .add("pad " + name, {{normal(shape)}}, CALL(pad(x[0], widths, mode, static_cast<int64_t>(value))),
           padded(widths, mode, value))
      .accepts(kAll);
}

/// The gradient of a sum is added up along rows whose elements may lie apart.
void add_backward(Cases& cases) {
  cases
      .add("pad backward", {{normal({6, 7})}},
           CALL(dispatch::apply(op::PadModeBackward{{{2, 1}, {3, 0}}, PadMode::reflect}, x[0])),
           [](const Arrays& x) {
             Array out{{3, 4}, std::vector<double>(12, 0.0)};
             for (const Index& i : indices_of(x[0].shape))
               out.at({source(PadMode::reflect, i[0] - 2, 3), source(PadMode::reflect, i[1] - 3, 4)}) += x[0].at(i);
             return out;
           })
      .accepts(kFloating);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "pad pairs",
      [] {
        pad(ones({2, 3}), {{1, 1}}, PadMode::reflect);
      },
      "pad([2, 3] f32): 1 pairs of widths for 2 axes");
  cases.error<ShapeError>(
      "pad reflect too far",
      [] {
        pad(ones({3}), {{3, 0}}, PadMode::reflect);
      },
      "pad([3] f32): reflect takes no 3 entries from axis 0 of size 3");
  cases.error<ShapeError>(
      "pad circular too far",
      [] {
        pad(ones({3}), {{0, 4}}, PadMode::circular);
      },
      "pad([3] f32): circular takes no 4 entries from axis 0 of size 3");
  cases.error<ShapeError>(
      "pad replicate nothing",
      [] {
        pad(ones({0}), {{1, 0}}, PadMode::replicate);
      },
      "pad([0] f32): replicate takes no 1 entries from axis 0 of size 0");
  cases.error<ShapeError>(
      "pad cuts too much",
      [] {
        pad(ones({3}), {{-2, -2}}, PadMode::constant);
      },
      "pad([3] f32): widths -2 and -2 leave nothing of axis 0 of size 3");
  cases.error<Error>(
      "pad value",
      [] {
        pad(ones({3}, u8), {{1, 1}}, PadMode::constant, 300);
      },
      "pad([3] u8): the value 300 does not fit into u8, which holds 0 to 255");
}

}  // namespace

void add_pad_mode_cases(Cases& cases) {
  add(cases, "constant 0", {2, 3}, {{1, 0}, {2, 1}}, PadMode::constant);
  add(cases, "constant 1", {2, 3}, {{1, 0}, {2, 1}}, PadMode::constant, 1);
  add(cases, "constant 1 with cuts", {4, 5}, {{1, -2}, {-3, 1}}, PadMode::constant, 1);
  add(cases, "constant 0 with cuts", {4, 5}, {{-1, 2}, {3, -1}}, PadMode::constant);
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate, PadMode::circular}) {
    const std::string name = mode == PadMode::reflect     ? "reflect"
                             : mode == PadMode::replicate ? "replicate"
                                                          : "circular";
    add(cases, name, {3, 4}, {{2, 1}, {3, 0}}, mode);
    add(cases, name + " of images", {2, 1, 3, 3}, {{0, 0}, {0, 0}, {1, 2}, {2, 1}}, mode);
    add(cases, name + " of whole rows", {2, 3, 2, 2}, {{0, 0}, {2, 1}, {0, 0}, {0, 0}}, mode);
    add(cases, name + " with cuts", {4, 5}, {{1, -1}, {-2, 2}}, mode);
    add(cases, name + " by nothing", {3, 2}, {{0, 0}, {0, 0}}, mode);
  }
  add_backward(cases);
  add_errors(cases);
}

}  // namespace weft::testing
