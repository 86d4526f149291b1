// Small ops, a chain with its backward and the MLP's training step in LibTorch, the C++ library inside of PyTorch's
// wheel. bench:compare builds it with one call of g++ and reads its lines of JSON. Usage: libtorch ops|mlp SECONDS
// THREADS
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace {

double cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Nanoseconds of processor time per call: the median of runs of about a millisecond.
template <class F> double nanoseconds(const F& call, double seconds) {
  int count = 1;
  for (;; count *= 2) {
    const double start = cpu_now();
    for (int i = 0; i < count; ++i) call();
    if (cpu_now() - start > 1e-3) break;
  }
  std::vector<double> runs;
  for (const double end = now() + seconds; now() < end || runs.size() < 5;) {
    const double start = cpu_now();
    for (int i = 0; i < count; ++i) call();
    runs.push_back(1e9 * (cpu_now() - start) / count);
  }
  std::nth_element(runs.begin(), runs.begin() + static_cast<long>(runs.size() / 2), runs.end());
  return runs[runs.size() / 2];
}

template <class F> void report(const char* op, const F& call, double seconds, int per_call = 1) {
  std::printf("{\"system\":\"libtorch\",\"op\":\"%s\",\"ns\":%.1f}\n", op, nanoseconds(call, seconds) / per_call);
}

void ops(double seconds) {
  const torch::Tensor a = torch::rand({64}), b = torch::rand({64}), m = torch::rand({8, 8});
  const torch::Tensor p = torch::rand({64}, torch::requires_grad());
  seconds /= 8;
  report(
      "add", [&] { return a + b; }, seconds);
  report(
      "add recorded", [&] { return p + b; }, seconds);
  report(
      "relu", [&] { return torch::relu(a); }, seconds);
  report(
      "matmul 8x8", [&] { return torch::mm(m, m); }, seconds);
  report(
      "view", [&] { return m.view({64}); }, seconds);
  report(
      "transpose", [&] { return m.transpose(0, 1); }, seconds);
  report(
      "slice", [&] { return m.slice(0, 1, 5); }, seconds);
  const auto chain = [&] {
    torch::Tensor y = p;
    for (int i = 0; i < 100; ++i) y = y * 1.01;
    y.sum().backward();
  };
  report("chain", chain, seconds, 100);
}

double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::stod(line.substr(name.size() + 1));
  return 0;
}

struct Mlp : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(784, 256));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(256, 10));
  torch::Tensor forward(const torch::Tensor& x) { return output(torch::relu(hidden(x))); }
};

void mlp(double seconds, int threads) {
  Mlp model;
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const torch::Tensor x = torch::randn({64, 784}), targets = torch::randint(10, {64}, torch::kLong);
  const auto step = [&] {
    sgd.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(model.forward(x), targets);
    loss.backward();
    sgd.step();
    return loss;
  };
  std::ofstream("/proc/self/clear_refs") << "5";
  const double before = status_bytes("VmRSS");
  std::vector<double> losses;
  for (int i = 0; i < 5; ++i) losses.push_back(step().item<double>());
  std::vector<double> times;
  const double start = now();
  for (double t = start; t < start + seconds || times.size() < 5;) {
    step();
    const double end = now();
    times.push_back(1e3 * (end - t));
    t = end;
  }
  const double mean = 1e3 * (now() - start) / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf(
      "{\"system\":\"libtorch\",\"mode\":\"c++\",\"model\":\"mlp\",\"threads\":%d,\"median_ms\":%.4f,\"mean_ms\":%.4f,"
      "\"min_ms\":%.4f,\"p10_ms\":%.4f,\"p90_ms\":%.4f,\"memory_mb\":%.1f,\"steps\":%zu,"
      "\"losses\":[%.4f,%.4f]}\n",
      threads, at(0.5), mean, times[0], at(0.1), at(0.9), (status_bytes("VmHWM") - before) / 1e6, times.size(),
      losses.front(), losses.back());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const double seconds = std::atof(argv[2]);
  const int threads = std::atoi(argv[3]);
  torch::set_num_threads(threads);
  torch::manual_seed(1);
  if (std::string(argv[1]) == "ops") {
    ops(seconds);
  } else {
    mlp(seconds, threads);
  }
}
