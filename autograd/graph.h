// Looking at a recorded graph.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The graph behind `root`, newest op first, one line per op: its number, the op with its attributes, the numbers of
/// its inputs, the shape of its result and the bytes it keeps for backward.
std::string print_graph(const Tensor& root);
/// The same as a Graphviz digraph: ops as ellipses, parameters as boxes (red where frozen), edges labelled with shapes.
std::string graph_to_dot(const Tensor& root);

namespace autograd {

/// What ops of one kind keep for backward.
struct KeptByOp {
  std::string op;
  int64_t nodes = 0;  // how many of the graph
  int64_t bytes = 0;  // of memory that no row above has counted
};
struct MemoryReport {
  std::vector<KeptByOp> ops;    // the most bytes first
  int64_t bytes = 0;            // that the graph keeps alive: their sum
  int64_t parameter_bytes = 0;  // of parameters that ops read, which live anyway
  /// One line per kind of op: `gelu     12 nodes     4718592 bytes`.
  std::string to_string() const;
};
/// What the graph behind `root` keeps alive. Memory that several ops keep counts once, for the newest of them. What
/// checkpoint() or hooks keep counts as what they made of it.
MemoryReport memory_report(const Tensor& root);

}  // namespace autograd

}  // namespace weft
