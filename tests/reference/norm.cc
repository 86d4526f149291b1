#include "tests/reference/norm.h"

#include <map>

#include "tests/reference/rows.h"

namespace weft::testing::reference {

NormAxes last_axes(const Shape& shape, int64_t axes) {
  const int64_t lead = shape.rank() - axes;
  return {[=](const Index& i) { return Index(i.begin(), i.begin() + lead); },
          [=](const Index& i) { return Index(i.begin() + lead, i.end()); }, Shape(shape.begin() + lead, shape.end())};
}
NormAxes each_channel(const Shape& shape) {
  const auto channel = [](const Index& i) { return Index{i[1]}; };
  return {channel, channel, {shape[1]}};
}
NormAxes channel_groups(const Shape& shape, int64_t size) {
  return {[=](const Index& i) {
            return Index{i[0], i[1] / size};
          },
          [](const Index& i) { return Index{i[1]}; },
          {shape[1]}};
}

namespace {

/// Elements that are normalized together: where they are, what they become, and the root of the variance.
struct Group {
  std::vector<Index> places;
  Row unit;
  double mean = 0, rstd = 0;
};

std::map<Index, Group> groups_of(const Array& x, const NormAxes& axes, double eps) {
  std::map<Index, Group> out;
  for (const Index& i : indices_of(x.shape)) out[axes.group(i)].places.push_back(i);
  for (auto& [at, group] : out) {
    for (const Index& i : group.places) group.unit.push_back(x.at(i));
    group.mean = mean(group.unit);
    group.rstd = 1 / std::sqrt(variance(group.unit, 0) + eps);
    for (double& v : group.unit) v = (v - group.mean) * group.rstd;
  }
  return out;
}

}  // namespace

Moments moments(const Array& x, const NormAxes& axes, double eps) {
  Moments out;
  for (const auto& [at, group] : groups_of(x, axes, eps)) {
    out.mean.push_back(group.mean);
    out.rstd.push_back(group.rstd);
  }
  return out;
}

Array normalized(const Array& x, const Array& weight, const Array& bias, const NormAxes& axes, double eps) {
  Array out = zeros(x.shape);
  for (const auto& [at, group] : groups_of(x, axes, eps))
    for (size_t k = 0; k < group.places.size(); ++k) {
      const Index parameter = axes.parameter(group.places[k]);
      out.at(group.places[k]) = group.unit[k] * weight.at_or(parameter, 1) + bias.at_or(parameter, 0);
    }
  return out;
}

Array normalized_with(const Array& x, const Array& mean, const Array& variance, const Array& weight, const Array& bias,
                      double eps) {
  return build(x.shape, [&](const Index& at) {
    const Index c{at[1]};
    return (x.at(at) - mean.at(c)) / std::sqrt(variance.at(c) + eps) * weight.at_or(c, 1) + bias.at_or(c, 0);
  });
}

Arrays normalized_gradient(const Array& g, const Array& x, const Array& weight, const NormAxes& axes, double eps) {
  Array dx = zeros(x.shape), dweight = zeros(axes.parameters), dbias = dweight;
  for (const auto& [at, group] : groups_of(x, axes, eps)) {
    const double n = static_cast<double>(group.unit.size());
    Row h;  // g times the weight
    for (size_t j = 0; j < group.unit.size(); ++j) {
      const Index parameter = axes.parameter(group.places[j]);
      const double of_j = g.at(group.places[j]);
      h.push_back(of_j * weight.at_or(parameter, 1));
      dweight.at(parameter) += of_j * group.unit[j];
      dbias.at(parameter) += of_j;
    }
    for (size_t i = 0; i < group.unit.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < group.unit.size(); ++j)
        sum += h[j] * ((i == j ? 1.0 : 0.0) - (1 + group.unit[i] * group.unit[j]) / n);
      dx.at(group.places[i]) = sum * group.rstd;
    }
  }
  return {dx, dweight, dbias};
}

}  // namespace weft::testing::reference
