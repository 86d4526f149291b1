#include "bench/compare/results.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <set>

namespace weft::bench {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

/// Three significant digits, as times are read.
std::string figure(double value) {
  return value >= 100 ? format("%.0f", value) : value >= 10 ? format("%.1f", value) : format("%.2f", value);
}

std::string spread(const std::vector<double>& values) {
  return figure(lowest(values)) + " to " + figure(highest(values));
}

bool computes_in_bf16(const Series& series) { return series.mode.starts_with("bf16"); }

/// weft in the precision of `series`; where weft did not run in it, the first series, which is weft in f32.
const Series& weft_beside(const Series& series, const ModelResult& result) {
  for (const Series& other : result.series)
    if (other.system == "weft" && computes_in_bf16(other) == computes_in_bf16(series)) return other;
  return result.series.front();
}

/// How many times as fast as this system weft is in the same precision; of the hand-written step, the share of its
/// speed that weft reaches. In weft's own row of bf16: how many times as fast as its f32 it is.
std::string against(const Series& series, const ModelResult& result) {
  const Series& weft = weft_beside(series, result);
  if (middle(weft.medians) == 0) return "";
  if (&series == &weft) {
    const double f32 = middle(result.series.front().medians);
    return computes_in_bf16(series) ? format("%.2f times weft eager", f32 / middle(series.medians)) : "";
  }
  const double ratio = middle(series.medians) / middle(weft.medians);
  return series.system == "hand-written" ? format("%.0f %% of it", 100 * ratio) : format("%.2f times", ratio);
}

std::string row(const Series& series, const ModelResult& result) {
  if (series.medians.empty())
    return format("| %s | failed: %s | | | | | |\n", series.label().c_str(), series.failure.c_str());
  const double median = middle(series.medians);
  const std::string memory = series.memory_mb < 0 ? "" : format("%.0f MB", series.memory_mb);
  const std::string share = result.limit_ms > 0 ? format("%.0f %%", 100 * result.limit_ms / median) : "";
  const std::string losses = series.losses.size() == 2 ? format("%.2f, %.2f", series.losses[0], series.losses[1]) : "";
  return format("| %s | %s | %s | %s | %s | %s | %s |\n", series.label().c_str(), figure(median).c_str(),
                spread(series.medians).c_str(), against(series, result).c_str(), memory.c_str(), share.c_str(),
                losses.c_str());
}

std::string model_table(const ModelResult& result) {
  std::string out =
      format("\n**%s, %d thread%s**\n\n", result.model.c_str(), result.threads, result.threads == 1 ? "" : "s");
  out +=
      "| system | median ms | spread of the rounds | weft against it | memory added | of the limit "
      "| loss, 1st and 5th step |\n|---|---|---|---|---|---|---|\n";
  for (const Series& series : result.series) out += row(series, result);
  return out;
}

std::string busy_table(const ModelResult& result) {
  const auto measured = [](const Series& s) { return !s.busy_means.empty(); };
  if (std::none_of(result.series.begin(), result.series.end(), measured)) return "";
  std::string out =
      format("\n**%s, %d threads, another process busy on one core**\n\n", result.model.c_str(), result.threads);
  out += "| system | mean ms alone | mean ms beside it | slower by |\n|---|---|---|---|\n";
  for (const Series& s : result.series)
    if (measured(s))
      out += format("| %s | %s | %s | %.2f times |\n", s.label().c_str(), figure(middle(s.means)).c_str(),
                    figure(middle(s.busy_means)).c_str(), middle(s.busy_means) / middle(s.means));
  return out;
}

std::string op_table(const std::vector<OpResult>& ops) {
  if (ops.empty()) return "";
  std::string out = "\n**Small ops, 1 thread**\n\n| op | weft ns | LibTorch ns | weft is faster |\n|---|---|---|---|\n";
  for (const OpResult& op : ops) {
    const double weft = middle(op.weft), libtorch = middle(op.libtorch);
    const std::string ratio = weft > 0 && libtorch > 0 ? format("%.1f times", libtorch / weft) : "";
    out += format("| %s | %.0f | %s | %s |\n", op.op.c_str(), weft,
                  libtorch > 0 ? format("%.0f", libtorch).c_str() : "", ratio.c_str());
  }
  return out;
}

/// Cases of one thread count, and below them the median of the ratios and what is slower.
std::string family_table(const std::vector<FamilyResult>& families, int threads) {
  std::string out = format("\n**Families of ops, %d thread%s**\n\n", threads, threads == 1 ? "" : "s");
  out += "| case | weft ms | PyTorch ms | weft is faster | spread of the rounds |\n|---|---|---|---|---|\n";
  std::vector<double> all;
  std::string slower;
  for (const FamilyResult& f : families) {
    if (f.threads != threads) continue;
    const std::vector<double> ratios = f.ratios();
    if (ratios.empty()) {
      out += format("| %s | %s | %s | not on both sides | |\n", f.name.c_str(), figure(middle(f.weft)).c_str(),
                    figure(middle(f.pytorch)).c_str());
      continue;
    }
    const double ratio = middle(ratios);
    all.push_back(ratio);
    if (ratio < 1) slower += (slower.empty() ? "" : "; ") + f.name + format(" (%.2f)", ratio);
    out += format("| %s | %s | %s | %.2f times | %s |\n", f.name.c_str(), figure(middle(f.weft)).c_str(),
                  figure(middle(f.pytorch)).c_str(), ratio, spread(ratios).c_str());
  }
  return out + format("\nThe median is %.2f times. Slower: ", middle(all)) + (slower.empty() ? "none" : slower) + ".\n";
}

}  // namespace

std::vector<double> FamilyResult::ratios() const {
  std::vector<double> out;
  for (size_t i = 0; i < std::min(weft.size(), pytorch.size()); ++i) out.push_back(pytorch[i] / weft[i]);
  return out;
}

double middle(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}
double lowest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}
double highest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::string markdown(const Results& results) {
  std::string out;
  for (const std::string& line : results.machine) out += "- " + line + "\n";
  for (const auto& [threads, rates] : results.rates) {
    out += format("- measured rates at %d thread%s: products %.0f GFLOP/s; copies of", threads, threads == 1 ? "" : "s",
                  rates.product / 1e9);
    for (const auto& [bytes, rate] : rates.copy) out += format(" %.0f MB: %.0f GB/s,", bytes / 1e6, rate / 1e9);
    out.back() = '\n';
  }
  for (const std::string& line : results.versions) out += "- peer: " + line + "\n";
  for (const std::string& line : results.absent) out += "- absent: " + line + "\n";
  if (!results.build.empty()) out += "\n**What weft costs a user's compiler**\n\n";
  for (const std::string& line : results.build) out += "- " + line + "\n";
  out += op_table(results.ops);
  std::set<int> counts;
  for (const FamilyResult& family : results.families) counts.insert(family.threads);
  for (const int threads : counts) out += family_table(results.families, threads);
  for (const ModelResult& result : results.models) out += model_table(result);
  for (const ModelResult& result : results.models) out += busy_table(result);
  return out;
}

nlohmann::json to_json(const Results& results) {
  nlohmann::json out = {{"machine", results.machine},
                        {"versions", results.versions},
                        {"absent", results.absent},
                        {"build", results.build}};
  for (const auto& [threads, rates] : results.rates) {
    nlohmann::json copies = nlohmann::json::object();
    for (const auto& [bytes, rate] : rates.copy) copies[format("%.0f", bytes)] = rate;
    out["rates"].push_back({{"threads", threads}, {"flops", rates.product}, {"copy", copies}});
  }
  for (const OpResult& op : results.ops)
    out["ops"].push_back({{"op", op.op},
                          {"weft_ns", middle(op.weft)},
                          {"libtorch_ns", middle(op.libtorch)},
                          {"weft_rounds", op.weft},
                          {"libtorch_rounds", op.libtorch}});
  for (const FamilyResult& f : results.families)
    out["families"].push_back(
        {{"case", f.name}, {"threads", f.threads}, {"weft_ms", f.weft}, {"pytorch_ms", f.pytorch}});
  for (const ModelResult& result : results.models)
    for (const Series& s : result.series)
      out["steps"].push_back({{"model", result.model},
                              {"threads", result.threads},
                              {"system", s.system},
                              {"mode", s.mode},
                              {"median_ms", middle(s.medians)},
                              {"rounds_ms", s.medians},
                              {"mean_ms", middle(s.means)},
                              {"busy_mean_ms", middle(s.busy_means)},
                              {"memory_mb", s.memory_mb},
                              {"limit_ms", result.limit_ms},
                              {"losses", s.losses},
                              {"failure", s.failure}});
  return out;
}

}  // namespace weft::bench
