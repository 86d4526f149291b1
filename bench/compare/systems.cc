#include "bench/compare/systems.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace weft::bench {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kAllModels = {"mlp", "cnn", "resnet18", "resnet18_224", "gpt"};

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line, last;
  while (std::getline(lines, line))
    if (!line.empty()) last = line;
  return last;
}

std::string python_value(const std::string& python, const std::string& expression, std::string* error) {
  const Outcome outcome = run_process({{python, "-c", expression}});
  if (!outcome.ok()) *error = last_line(outcome.errors);
  return outcome.ok() ? last_line(outcome.output) : "";
}

std::map<std::string, std::string> thread_settings(int threads) {
  return {{"OMP_NUM_THREADS", std::to_string(threads)}};
}

/// A program that takes --model, --mode, --seconds and --threads.
System stepping(const std::string& name, const std::string& mode, const std::vector<std::string>& program,
                std::vector<std::string> models) {
  return {name, mode, std::move(models), [=](const std::string& model, double seconds, int threads) {
            // (weft is told by its option alone: with all cores it then yields to others, as it does for its users.)
            Command command{program, name == "weft" ? std::map<std::string, std::string>() : thread_settings(threads)};
            for (const std::string& word :
                 {std::string("--mode"), mode, std::string("--model"), model, std::string("--seconds"),
                  std::to_string(seconds), std::string("--threads"), std::to_string(threads)})
              command.arguments.push_back(word);
            return command;
          }};
}

/// A hand-written step: `PROGRAM SECONDS VARIANT`.
System hand_written(const std::string& program, const std::string& variant, const std::string& model) {
  return {"hand-written", variant, {model}, [=](const std::string&, double seconds, int threads) {
            return Command{{program, std::to_string(seconds), variant}, thread_settings(threads)};
          }};
}

void add_hand_written(const Places& places, const std::vector<std::string>& models, Field& field) {
  struct Program {
    std::string source, model;
    std::vector<std::string> variants;
  };
  const std::vector<Program> programs = {{"mlp", "mlp", {"mm"}},
                                         {"cnn", "cnn", {"fused", "unfused"}},
                                         {"resnet", "resnet18", {"16cwmix", "16cmix", "mix"}},
                                         {"gpt", "gpt", {"sgemm", "bf16ip"}}};
  if (places.limits.empty()) {
    field.absent.push_back("hand-written steps: no folder of them (--limits)");
    return;
  }
  for (const Program& p : programs) {
    if (std::find(models.begin(), models.end(), p.model) == models.end()) continue;
    const std::string source = places.limits + "/" + p.source + ".cc", program = places.temporary + "/" + p.source;
    const Outcome built = run_process(
        {{"g++", "-std=c++20", "-O3", "-march=" + places.march, "-fopenmp", source, "-o", program, "-ldnnl"}});
    if (!built.ok()) {
      field.absent.push_back("hand-written " + p.model + ": " + source + " does not build");
      continue;
    }
    for (const std::string& variant : p.variants) field.systems.push_back(hand_written(program, variant, p.model));
  }
}

void add_pytorch(const Places& places, Field& field) {
  std::string error;
  const std::string version = python_value(places.python, "import torch; print(torch.__version__)", &error);
  if (version.empty()) {
    field.absent.push_back("PyTorch: " + error + " (" + places.python + ")");
    return;
  }
  field.versions.push_back("PyTorch " + version);
  const std::vector<std::string> program = {places.python, places.peers + "/pytorch.py"};
  field.systems.push_back(stepping("PyTorch", "eager", program, kAllModels));
  field.systems.push_back(stepping("PyTorch", "channels_last", program, {"cnn", "resnet18", "resnet18_224"}));
  field.systems.push_back(stepping("PyTorch", "compile", program, kAllModels));
  field.systems.push_back(stepping("PyTorch", "bf16", program, kAllModels));
}

void add_libtorch(const Places& places, Field& field) {
  std::string error;
  const std::string found = python_value(places.python,
                                         "import torch, os; print(os.path.dirname(torch.__file__), "
                                         "int(torch.compiled_with_cxx11_abi()), torch.__version__)",
                                         &error);
  if (found.empty()) {
    field.absent.push_back("LibTorch: " + error + " (" + places.python + ")");
    return;
  }
  std::string folder, abi, version;
  std::istringstream(found) >> folder >> abi >> version;
  const std::string program = places.temporary + "/libtorch", libraries = folder + "/lib";
  const Outcome built =
      run_process({{"g++", "-std=c++20", "-O2", "-D_GLIBCXX_USE_CXX11_ABI=" + abi, "-I" + folder + "/include",
                    "-I" + folder + "/include/torch/csrc/api/include", places.peers + "/libtorch.cc", "-o", program,
                    "-L" + libraries, "-Wl,-rpath," + libraries, "-ltorch", "-ltorch_cpu", "-lc10"}});
  if (!built.ok()) {
    field.absent.push_back("LibTorch: peers/libtorch.cc does not build: " + last_line(built.errors));
    return;
  }
  field.versions.push_back("LibTorch " + version);
  field.libtorch = program;
  field.systems.push_back(
      {"LibTorch", "c++", {"mlp"}, [=](const std::string&, double seconds, int threads) {
         return Command{{program, "mlp", std::to_string(seconds), std::to_string(threads)}, thread_settings(threads)};
       }});
}

void add_jax(const Places& places, Field& field) {
  std::string error;
  const std::string version = python_value(places.python, "import jax; print(jax.__version__)", &error);
  if (version.empty()) {
    field.absent.push_back("JAX: " + error + " (" + places.python + ")");
    return;
  }
  field.versions.push_back("JAX " + version);
  field.systems.push_back(
      stepping("JAX", "jit", {places.python, places.peers + "/jax_jit.py"}, {"mlp", "cnn", "resnet18", "gpt"}));
}

}  // namespace

bool System::runs(const std::string& model) const {
  return std::find(models.begin(), models.end(), model) != models.end();
}

Field find_systems(const Places& places, const std::function<bool(const std::string&)>& wanted,
                   const std::vector<std::string>& models) {
  Field field;
  for (const char* mode : {"eager", "bf16"})
    field.systems.push_back(stepping("weft", mode, {places.programs + "/train_steps"}, kAllModels));
  if (wanted("hand-written")) add_hand_written(places, models, field);
  if (wanted("PyTorch")) add_pytorch(places, field);
  if (wanted("LibTorch")) add_libtorch(places, field);
  if (wanted("JAX")) add_jax(places, field);
  return field;
}

}  // namespace weft::bench
