// Printing and analyzing a recorded graph.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The graph that computed `root`, newest op first, one line per op: its number, the op with its attributes, the
/// numbers of its inputs, the shape of its result and the number of bytes it saves for backward.
std::string print_graph(const Tensor& root);
/// The same as a Graphviz digraph: ops as ellipses, parameters as boxes (red where frozen), edges labeled with shapes.
std::string graph_to_dot(const Tensor& root);

namespace autograd {

/// The memory that all ops of one kind save for backward.
struct KeptByOp {
  std::string op;
  int64_t nodes = 0;  // number of nodes of this kind
  int64_t bytes = 0;  // excluding memory that is counted in an earlier row
};
struct MemoryReport {
  std::vector<KeptByOp> ops;    // sorted by bytes, largest first
  int64_t bytes = 0;            // total bytes that the graph keeps alive
  int64_t parameter_bytes = 0;  // bytes of parameters that ops read; not part of `bytes`
  /// One line per kind of op: `gelu     12 nodes     4718592 bytes`.
  std::string to_string() const;
};
/// The memory that the graph of `root` keeps alive. Memory that several ops share is counted once, for the newest of
/// them. For tensors replaced by checkpoint() or saved-tensor hooks, their replacement is counted.
MemoryReport memory_report(const Tensor& root);

}  // namespace autograd

}  // namespace weft
