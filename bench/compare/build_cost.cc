#include "bench/compare/build_cost.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace weft::bench {
namespace {

namespace fs = std::filesystem;

Outcome fastest_of_three(const Command& command) {
  Outcome best = run_process(command);
  for (int i = 0; i < 2 && best.ok(); ++i) {
    const Outcome next = run_process(command);
    if (next.seconds < best.seconds) best = next;
  }
  return best;
}

/// The first block of C++ in the README.
std::string readme_program(const fs::path& root) {
  std::ifstream readme(root / "README.md");
  std::string program;
  bool inside = false;
  for (std::string line; std::getline(readme, line);) {
    if (line == "```cpp") {
      inside = true;
    } else if (inside && line == "```") {
      break;
    } else if (inside) {
      program += line + "\n";
    }
  }
  return program;
}

/// weft's objects, as Bazel compiled them.
std::vector<std::string> objects(const fs::path& built) {
  std::vector<std::string> out;
  for (const char* folder : {"tensor", "autograd", "nn", "optim", "data", "io"})
    for (const auto& entry : fs::recursive_directory_iterator(built / folder))
      if (entry.path().extension() == ".o") out.push_back(entry.path().string());
  return out;
}

std::string line(const char* pattern, double first, double second = 0) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, first, second);
  return text;
}

}  // namespace

std::vector<std::string> build_costs(const Places& places) {
  const fs::path root = places.root, built = fs::path(places.programs).parent_path(), work = places.temporary;
  std::ofstream(work / "header.cc") << "#include \"weft.h\"\n";
  std::ofstream(work / "program.cc") << readme_program(root);
  const auto compile = [&](const std::string& stem) {
    return Command{{"g++", "-std=c++20", "-O2", "-fopenmp", "-I" + root.string(), "-I" + built.string(), "-c",
                    (work / (stem + ".cc")).string(), "-o", (work / (stem + ".o")).string()}};
  };
  const Outcome header = fastest_of_three(compile("header")), program = fastest_of_three(compile("program"));
  Command link{
      {"g++", "-fopenmp", (work / "program.o").string(), "-o", (work / "program").string(), "-Wl,--gc-sections"}};
  for (const std::string& object : objects(built)) link.arguments.push_back(object);
  for (const char* library : {"-ldnnl", "-lspdlog", "-lfmt", "-lpng", "-lz"}) link.arguments.push_back(library);
  const Outcome linked = fastest_of_three(link);

  std::vector<std::string> out;
  out.push_back(header.ok() ? line("`#include \"weft.h\"` compiles in %.2f s of processor time and %.0f MB",
                                   header.seconds, header.peak_mb)
                            : "`#include \"weft.h\"` does not compile here");
  out.push_back(program.ok() && linked.ok()
                    ? line("the README's training loop compiles in %.2f s and links in %.2f s of processor time",
                           program.seconds, linked.seconds)
                    : "the README's training loop does not build here");
  for (const char* example : {"mlp", "cnn", "gpt"}) {
    std::error_code absent;
    const auto size = fs::file_size(built / "examples" / example, absent);
    if (!absent)
      out.push_back(std::string(example) + line(" (the example) has %.1f MB", static_cast<double>(size) / 1e6));
  }
  return out;
}

}  // namespace weft::bench
