// Evaluation of ResNet-18 on images of 3 x 224 x 224, without history: ms of a forward pass.
//
//   ./bazelw run //bench:inference -- --batch 8 --threads 2 --seconds 3
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/models.h"
#include "bench/steps.h"

int main(int argc, char** argv) {
  using namespace weft;
  int64_t batch = 1;
  double seconds = 3;
  int threads = 0;
  CLI::App app("ResNet-18 in evaluation, one JSON line");
  app.add_option("--batch", batch, "images");
  app.add_option("--seconds", seconds, "how long to measure");
  app.add_option("--threads", threads, "threads; 0: all");
  CLI11_PARSE(app, argc, argv);
  if (threads > 0) set_num_threads(threads);
  manual_seed(1);
  NoGrad guard;
  bench::ResNet18 model;
  model.eval();
  const Tensor images = randn({batch, 3, 224, 224});
  const auto figures = bench::measure_steps([&] { return model.forward(images).sum(); }, seconds);
  std::printf("%s\n", bench::json_line("eval", "resnet18", num_threads(), figures).c_str());
}
