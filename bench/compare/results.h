// What was measured, and the tables made of it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/compare/limit.h"

namespace weft::bench {

/// One system, in all rounds of one model at one thread count.
struct Series {
  std::string system;
  std::string mode;
  std::vector<double> medians;  // of each round, milliseconds
  std::vector<double> means;
  std::vector<double> busy_means;   // with another process on one core
  double memory_mb = 0;             // the most of any round; below 0: not told
  std::vector<double> losses = {};  // of the first and the fifth step on the same batch; empty: not told
  std::string failure = {};         // why a run gave nothing

  std::string label() const { return system + " " + mode; }
};

/// The middle value, and the outermost ones; 0 where there is none.
double middle(std::vector<double> values);
double lowest(const std::vector<double>& values);
double highest(const std::vector<double>& values);

/// Of one model at one thread count, in the order in which systems run; weft first.
struct ModelResult {
  std::string model;
  int threads = 0;
  std::vector<Series> series;
  double limit_ms = 0;  // see limit.h; 0: not measured
};

/// Nanoseconds of small ops, per round.
struct OpResult {
  std::string op;
  std::vector<double> weft;
  std::vector<double> libtorch;
};

/// Milliseconds of one case of bench/families.cc, per round.
struct FamilyResult {
  std::string name;
  int threads = 0;
  std::vector<double> weft;
  std::vector<double> pytorch;
  /// How many times as fast weft is, in each round that both took part in.
  std::vector<double> ratios() const;
};

struct Results {
  std::vector<std::string> machine;  // lines about it
  std::vector<std::string> versions;
  std::vector<std::string> absent;
  std::vector<std::string> build;  // what weft costs a user's compiler
  std::map<int, Rates> rates;      // by threads
  std::vector<ModelResult> models;
  std::vector<OpResult> ops;
  std::vector<FamilyResult> families;
};

/// Markdown: one table per model and thread count, one of small ops, one of families, and the conditions.
std::string markdown(const Results& results);
nlohmann::json to_json(const Results& results);

}  // namespace weft::bench
