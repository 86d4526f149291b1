// Who takes part in a comparison, and how each is asked to run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/compare/process.h"

namespace weft::bench {

/// Where things are.
struct Places {
  std::string root;       // of the source tree
  std::string programs;   // what Bazel built beside this program
  std::string peers;      // bench/peers
  std::string limits;     // hand-written steps; empty: not there
  std::string python;     // that knows the peers
  std::string march;      // what hand-written steps are compiled for
  std::string temporary;  // for what is compiled here
};

/// One system in one mode of running.
struct System {
  std::string name;  // "weft", "hand-written", "PyTorch", "LibTorch", "JAX"
  std::string mode;
  std::vector<std::string> models;
  std::function<Command(const std::string& model, double seconds, int threads)> steps;

  std::string label() const { return name + " " + mode; }
  bool runs(const std::string& model) const;
};

struct Field {
  std::vector<System> systems;        // weft first
  std::vector<std::string> absent;    // one line each, with the reason
  std::vector<std::string> versions;  // of those that are there
  std::string libtorch;               // the program for small ops; empty: not there
};

/// Asks Python what it has, and compiles what must be compiled. `wanted` says which names may take part.
Field find_systems(const Places& places, const std::function<bool(const std::string&)>& wanted,
                   const std::vector<std::string>& models);

}  // namespace weft::bench
