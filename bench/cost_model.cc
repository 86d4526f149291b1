// A cost model of data-parallel training, fitted to what bench:distributed measured, and what it says of more ranks
// than there were. docs/cost_model.md explains it and has its figures.
//
//   for r in 2 3 4; do mpirun -n $r bazel-bin/bench/distributed --points; done | grep ^point > points
//   ./bazelw run //bench:cost_model -- $PWD/points
//
// A reduction of B bytes in k buckets by R ranks:  C(R) = w (k a (R - 1) + b 2 B (R - 1) / R)
//   a: seconds for the messages with one other rank; b: seconds to send, receive and add a byte; w: ranks to a core.
// A step:                                          T(R) = T alone + (1 - o) C(R)
//   o: the share of the reduction that goes on while backward computes.
// a and b are fitted to points of all_reduce, o to points of steps, each by least squares of relative errors; every
// third point is held back, and the error there is what the fit is judged by.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr double kFirstBucket = 1 << 20, kBucket = 8 << 20;  // DataParallelOptions

struct Point {
  std::string model;  // empty for a collective
  double ranks = 0, bytes = 0, alone = 0, seconds = 0;
};

struct Network {
  double latency = 0;   // a
  double per_byte = 0;  // b
};

double buckets_of(const Point& p) {
  return p.model.empty() ? 1 : 1 + std::ceil(std::max(p.bytes - kFirstBucket, 0.0) / kBucket);
}
double partners(const Point& p) { return buckets_of(p) * (p.ranks - 1); }
double moved(const Point& p) { return 2 * p.bytes * (p.ranks - 1) / p.ranks; }
double cost(const Network& n, const Point& p) { return n.latency * partners(p) + n.per_byte * moved(p); }

/// The points of each way that gradients travel: lines `point all_reduce WAY RANKS BYTES SECONDS` and
/// `point step WAY RANKS MODEL BYTES SECONDS_ALONE SECONDS`.
std::map<std::string, std::vector<Point>> read(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::vector<Point>> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string word, kind, way;
    Point p;
    in >> word >> kind >> way >> p.ranks;
    if (kind == "step") in >> p.model;
    in >> p.bytes;
    if (kind == "step") in >> p.alone;
    in >> p.seconds;
    if (word == "point" && in) out[way].push_back(p);
  }
  return out;
}

struct Fitted {
  Network network;
  double overlap = 0;
};

/// The time of a point by the model.
double predict(const Fitted& fit, const Point& p, double cores) {
  const double crowd = std::max(1.0, p.ranks / cores), reduction = crowd * cost(fit.network, p);
  return p.model.empty() ? reduction : p.alone + (1 - fit.overlap) * reduction;
}

/// a and b of the least sum of ((a x + b y - t) / t)^2; none below 0.
Network fit_network(const std::vector<Point>& points, double cores) {
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (const Point& p : points) {
    if (!p.model.empty()) continue;
    const double crowd = std::max(1.0, p.ranks / cores);
    const double x = crowd * partners(p) / p.seconds, y = crowd * moved(p) / p.seconds;
    xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
  }
  const double determinant = xx * yy - xy * xy;
  Network n{(x1 * yy - y1 * xy) / determinant, (y1 * xx - x1 * xy) / determinant};
  if (n.latency < 0) n = {0, y1 / yy};
  if (n.per_byte < 0) n = {x1 / xx, 0};
  return n;
}

/// o of the least sum of ((T alone + (1 - o) C - t) / t)^2.
double fit_overlap(const std::vector<Point>& points, const Network& network, double cores) {
  double cc = 0, ct = 0;
  for (const Point& p : points) {
    if (p.model.empty()) continue;
    const double c = std::max(1.0, p.ranks / cores) * cost(network, p) / p.seconds;
    cc += c * c, ct += c * (p.seconds - p.alone) / p.seconds;
  }
  return cc > 0 ? 1 - ct / cc : 0;
}

void say_errors(const char* what, const Fitted& fit, const std::vector<Point>& points, double cores) {
  double sum = 0, most = 0;
  for (const Point& p : points) {
    const double error = std::abs(predict(fit, p, cores) / p.seconds - 1);
    sum += error, most = std::max(most, error);
  }
  if (!points.empty())
    std::printf("  %-11s %2zu points: error %.0f %% in the mean, %.0f %% at most\n", what, points.size(),
                100 * sum / double(points.size()), 100 * most);
}

/// Fits one way, and says how well.
Fitted fit(const std::string& way, const std::vector<Point>& points, double cores) {
  std::vector<Point> used, held_back;
  for (size_t i = 0; i < points.size(); ++i) (i % 3 == 2 ? held_back : used).push_back(points[i]);
  Fitted out{fit_network(used, cores), 0};
  out.overlap = fit_overlap(used, out.network, cores);
  std::printf("%s: a %.1f us, 1 / b %.2f GB/s, o %.2f\n", way.c_str(), 1e6 * out.network.latency,
              1e-9 / out.network.per_byte, out.overlap);
  say_errors("fitted", out, used, cores);
  say_errors("held back", out, held_back, cores);
  return out;
}

/// Milliseconds of a step, and the share of R times one rank's throughput, one rank to a machine.
void say_prediction(const std::string& name, const Fitted& fit, const std::vector<Point>& steps) {
  std::printf("PREDICTION, %s: a %.1f us, 1 / b %.2f GB/s, o %.2f\n", name.c_str(), 1e6 * fit.network.latency,
              1e-9 / fit.network.per_byte, fit.overlap);
  for (Point p : steps) {
    std::printf("  %-10s alone %7.2f ms", p.model.c_str(), 1e3 * p.alone);
    for (p.ranks = 8; p.ranks <= 1024; p.ranks *= 2) {
      const double seconds = predict(fit, p, p.ranks);
      std::printf("  | %g: %.1f ms %.0f %%", p.ranks, 1e3 * seconds, 100 * p.alone / seconds);
    }
    std::printf("\n");
  }
}

/// `NAME,MICROSECONDS,GBYTES`: a network that was not measured.
struct Assumed {
  std::string name;
  Network network;
};
Assumed parse(const std::string& text) {
  std::istringstream in(text);
  Assumed out;
  std::string latency, rate;
  std::getline(in, out.name, ','), std::getline(in, latency, ','), std::getline(in, rate, ',');
  out.network = {1e-6 * std::atof(latency.c_str()), 1e-9 / std::atof(rate.c_str())};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  std::vector<std::string> networks;
  double cores = 2;
  CLI::App app("A cost model of data-parallel training");
  app.add_option("points", path, "lines that bench:distributed --points printed")->required()->check(CLI::ExistingFile);
  app.add_option("--cores", cores, "of the machine that measured");
  app.add_option("--network", networks, "NAME,MICROSECONDS,GB_PER_SECOND: also predict with these a and 1 / b");
  CLI11_PARSE(app, argc, argv);
  const auto ways = read(path);
  if (ways.empty()) {
    std::fprintf(stderr, "error: %s has no line that begins with `point`\n", path.c_str());
    return 1;
  }
  // What a step takes alone: measured where each rank had a core.
  std::vector<Point> steps;
  for (const auto& [way, points] : ways)
    for (const Point& p : points) {
      const auto is_same = [&](const Point& s) { return s.model == p.model; };
      const auto known = std::find_if(steps.begin(), steps.end(), is_same);
      if (p.model.empty() || p.ranks > cores) continue;
      if (known == steps.end())
        steps.push_back(p);
      else
        known->alone = std::min(known->alone, p.alone);
    }
  for (const auto& [way, points] : ways) {
    const Fitted fitted = fit(way, points, cores);
    if (way == "shared") continue;  // no network
    say_prediction(way + " as measured", fitted, steps);
    for (const std::string& network : networks) {
      const Assumed assumed = parse(network);
      say_prediction(assumed.name + " (a and b assumed, o of " + way + ")", {assumed.network, fitted.overlap}, steps);
    }
  }
}
