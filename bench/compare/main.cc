// bench:compare: weft and every peer that is installed, on the same work, in turns, in one table.
//
//   ./bazelw run //bench:compare -- --python /path/to/python --json figures.json
//
// Each round runs one system after the other, each in a process of its own, so that what disturbs the machine for a
// while disturbs all of them; a figure is the median over the rounds of each run's median.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "bench/compare/build_cost.h"
#include "bench/compare/isa.h"
#include "bench/compare/limit.h"
#include "bench/compare/process.h"
#include "bench/compare/results.h"
#include "bench/compare/systems.h"

namespace weft::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Options {
  std::vector<std::string> models = {"build", "ops", "families", "mlp", "cnn", "resnet18", "gpt"};
  std::vector<std::string> systems;
  std::vector<int> threads = {1, 2};
  int rounds = 5;
  double seconds = 2;
  bool busy = false;
  std::string python = "python3";
  std::string limits;
  std::string isa = "native";
  std::string json_file;
};

/// A folder that is gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "weft-compare-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder for temporary files");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The JSON objects among the lines of `text`.
std::vector<json> json_lines(const std::string& text) {
  std::vector<json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json value = json::parse(line, nullptr, false);
    if (value.is_object()) out.push_back(std::move(value));
  }
  return out;
}

/// One run of one system. Adds to `series`; a run that fails leaves the reason.
void run_once(const System& system, const std::string& model, int threads, double seconds, bool busy, Series& series) {
  std::fprintf(stderr, "  %s, %d threads%s: %s\n", model.c_str(), threads, busy ? ", busy" : "",
               system.label().c_str());
  const Outcome outcome = run_process(system.steps(model, seconds, threads));
  const std::vector<json> lines = json_lines(outcome.output);
  if (!outcome.ok() || lines.empty()) {
    std::istringstream errors(outcome.errors);
    for (std::string line; std::getline(errors, line);)
      if (!line.empty()) series.failure = line;
    if (series.failure.empty()) series.failure = "exit code " + std::to_string(outcome.status);
    return;
  }
  const json& line = lines.back();
  const double median = line.at("median_ms"), mean = line.value("mean_ms", median);
  if (busy) {
    series.busy_means.push_back(mean);
    return;
  }
  series.medians.push_back(median);
  series.means.push_back(mean);
  series.losses = line.value("losses", std::vector<double>());
  series.memory_mb = std::max(series.memory_mb, line.value("memory_mb", -1.0));
}

ModelResult run_model(const std::vector<System>& systems, const std::string& model, int threads,
                      const Options& options) {
  ModelResult result{model, threads, {}, 0};
  std::vector<const System*> runners;
  for (const System& system : systems) {
    if (!system.runs(model)) continue;
    runners.push_back(&system);
    result.series.push_back({system.name, system.mode, {}, {}, {}, -1, {}, ""});
  }
  // Beside a busy core only those can be compared that report means; a single thread would just move to the other core.
  const bool busy = options.busy && threads > 1;
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < runners.size(); ++i)
      if (result.series[i].failure.empty())
        run_once(*runners[i], model, threads, options.seconds, false, result.series[i]);
    if (!busy) continue;
    const BusyCore neighbor;
    for (size_t i = 0; i < runners.size(); ++i)
      if (result.series[i].failure.empty() && runners[i]->name != "hand-written")
        run_once(*runners[i], model, threads, options.seconds, true, result.series[i]);
  }
  return result;
}

Rates measure_rates(const Places& places, int threads) {
  const Outcome outcome = run_process({{places.programs + "/rates", std::to_string(threads)}, {}});
  Rates rates;
  for (const json& line : json_lines(outcome.output)) {
    if (line.contains("flops")) rates.product = line["flops"].get<double>();
    if (line.contains("copy")) rates.copy[line["bytes"].get<double>()] = line["copy"].get<double>();
  }
  return rates;
}

/// `rates` becomes the better of both.
void raise(Rates& rates, const Rates& other) {
  rates.product = std::max(rates.product, other.product);
  for (const auto& [bytes, rate] : other.copy) rates.copy[bytes] = std::max(rates.copy[bytes], rate);
}

// ---- small ops ----

/// An op's name in LibTorch's lines, and its benchmark in small_ops.cc.
const std::vector<std::pair<std::string, std::string>> kOps = {
    {"add", "add/64/0"},   {"add recorded", "add/64/1"},    {"relu", "relu_of/64/0"}, {"matmul 8x8", "product/64/0"},
    {"view", "view_op/0"}, {"transpose", "transpose_op/0"}, {"slice", "slice_op/0"},  {"chain", "chain"}};

/// Both sides give the median of several runs, in processor time, so that other processes do not count.
void weft_ops(const Places& places, std::vector<OpResult>& ops) {
  const Outcome outcome =
      run_process({{places.programs + "/small_ops", "--benchmark_format=json", "--benchmark_min_time=0.02",
                    "--benchmark_repetitions=9", "--benchmark_filter=(/64/[01]|_op/0|chain)$"},
                   {{"OMP_NUM_THREADS", "1"}}});
  const json report = json::parse(outcome.output, nullptr, false);
  if (!report.is_object()) return;
  for (const json& run : report["benchmarks"])
    for (size_t i = 0; i < kOps.size(); ++i)
      if (run["name"] == kOps[i].second + "_median")
        ops[i].weft.push_back(run["cpu_time"].get<double>() / (kOps[i].first == "chain" ? 100 : 1));
}

void libtorch_ops(const std::string& program, std::vector<OpResult>& ops) {
  for (const json& line : json_lines(run_process({{program, "ops", "2", "1"}, {{"OMP_NUM_THREADS", "1"}}}).output))
    for (OpResult& op : ops)
      if (line.value("op", "") == op.op) op.libtorch.push_back(line["ns"]);
}

std::vector<OpResult> run_ops(const Places& places, const Field& field, int rounds) {
  std::vector<OpResult> ops;
  for (const auto& [name, benchmark] : kOps) ops.push_back({name, {}, {}});
  for (int round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "  small ops\n");
    weft_ops(places, ops);
    if (!field.libtorch.empty()) libtorch_ops(field.libtorch, ops);
  }
  for (OpResult& op : ops)
    if (op.op == "chain") op.op = "chain of 100 forward and backward, per op";
  return ops;
}

// ---- families of ops ----

/// One turn: the milliseconds of each case, in the order in which they ran.
std::vector<std::pair<std::string, double>> family_turn(std::vector<std::string> program, int threads, double seconds) {
  for (const std::string& word :
       {std::string("--threads"), std::to_string(threads), std::string("--seconds"), std::to_string(seconds)})
    program.push_back(word);
  std::vector<std::pair<std::string, double>> out;
  for (const json& line : json_lines(run_process({program, {{"OMP_NUM_THREADS", std::to_string(threads)}}}).output))
    if (line.contains("case")) out.emplace_back(line["case"], line["ms"].get<double>());
  return out;
}

/// Each case takes a twentieth of a turn's seconds.
std::vector<FamilyResult> run_families(const Places& places, int threads, const Options& options) {
  std::vector<FamilyResult> out;
  const auto of = [&](const std::string& name) -> FamilyResult& {
    for (FamilyResult& result : out)
      if (result.name == name) return result;
    return out.emplace_back(FamilyResult{name, threads, {}, {}});
  };
  for (int round = 0; round < options.rounds; ++round) {
    std::fprintf(stderr, "  families, %d threads\n", threads);
    for (const auto& [name, ms] : family_turn({places.programs + "/families"}, threads, options.seconds / 20))
      of(name).weft.push_back(ms);
    for (const auto& [name, ms] :
         family_turn({places.python, places.peers + "/families.py"}, threads, options.seconds / 20))
      of(name).pytorch.push_back(ms);
  }
  return out;
}

// ---- the whole ----

/// Cores and what matters of the instruction set; never a host's name.
std::vector<std::string> describe_machine() {
  std::string flags;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word == "avx2" || word == "avx512f" || word == "avx512_bf16" || word == "amx_bf16") flags += " " + word;
    break;
  }
  return {std::to_string(std::thread::hardware_concurrency()) + " cores," + flags};
}

bool parse(int argc, char** argv, Options& options, int& status) {
  CLI::App app("Runs weft and each installed peer on the same work, in turns");
  app.add_option("--models", options.models, "of build, ops, families, mlp, cnn, resnet18, resnet18_224, gpt")
      ->delimiter(',');
  app.add_option("--systems", options.systems, "only these peers: hand-written, PyTorch, LibTorch, JAX, none")
      ->delimiter(',');
  app.add_option("--threads", options.threads, "thread counts")->delimiter(',');
  app.add_option("--rounds", options.rounds, "how often each system has its turn");
  app.add_option("--seconds", options.seconds, "of one turn");
  app.add_flag("--busy", options.busy, "measure beside a process that spins on one core, too");
  app.add_option("--python", options.python, "a Python that has the peers installed");
  app.add_option("--limits", options.limits, "folder of steps written by hand over oneDNN");
  app.add_option("--isa", options.isa,
                 "the widest instructions of all: native, or avx2 (of a build with --config=avx2)")
      ->check(CLI::IsMember({"native", "avx2"}));
  app.add_option("--json", options.json_file, "write all figures there");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    status = app.exit(error);
    return false;
  }
}

Places find_places(const Options& options, const std::string& temporary) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");  // set by `bazel run`
  const fs::path root = workspace != nullptr ? fs::path(workspace) : fs::current_path();
  const fs::path beside = root / ".." / "shared" / "limits";
  std::string limits = options.limits;
  if (limits.empty() && fs::is_directory(beside)) limits = fs::weakly_canonical(beside).string();
  return {.root = root.string(),
          .programs = fs::canonical("/proc/self/exe").parent_path().string(),
          .peers = (root / "bench" / "peers").string(),
          .limits = limits,
          .python = options.python,
          .march = options.isa == "avx2" ? "haswell" : "native",
          .temporary = temporary};
}

int run(int argc, char** argv) {
  Options options;
  int status = 0;
  if (!parse(argc, argv, options, status)) return status;
  if (options.isa == "avx2") limit_to_avx2();
  const TemporaryFolder temporary;
  const Places places = find_places(options, temporary.path());
  const auto wanted = [&](const std::string& name) {
    return options.systems.empty() ||
           std::find(options.systems.begin(), options.systems.end(), name) != options.systems.end();
  };
  std::fprintf(stderr, "looking for peers\n");
  const Field field = find_systems(places, wanted, options.models);

  Results results;
  results.machine = describe_machine();
  if (options.isa == "avx2") results.machine.push_back("everything is limited to AVX2");
  results.versions = field.versions;
  results.absent = field.absent;
  for (const std::string& model : options.models) {
    if (model == "build") {
      results.build = build_costs(places);
      continue;
    }
    if (model == "ops") {
      results.ops = run_ops(places, field, options.rounds);
      continue;
    }
    for (const int threads : options.threads) {
      if (model == "families") {
        for (FamilyResult& result : run_families(places, threads, options)) results.families.push_back(result);
        continue;
      }
      raise(results.rates[threads], measure_rates(places, threads));
      ModelResult result = run_model(field.systems, model, threads, options);
      results.models.push_back(std::move(result));
    }
  }
  for (ModelResult& result : results.models)
    result.limit_ms = limit_ms(work_of(result.model), results.rates[result.threads]);
  std::cout << markdown(results);
  if (!options.json_file.empty()) {
    // Bazel starts programs in a folder of its own: a relative path is meant where the user stands.
    const char* here = std::getenv("BUILD_WORKING_DIRECTORY");
    const fs::path path = here != nullptr ? fs::path(here) / options.json_file : fs::path(options.json_file);
    std::ofstream(path) << to_json(results).dump(2) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  try {
    return weft::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 1;
  }
}
