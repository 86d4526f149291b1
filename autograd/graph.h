// Looking at a recorded graph.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft {

/// The graph behind `root`, newest op first, one line per op: its number, the op with its attributes, the numbers of its
/// inputs, the shape of its result and the bytes it keeps for backward.
std::string print_graph(const Tensor& root);
/// The same as a Graphviz digraph: ops as ellipses, parameters as boxes (red where frozen), edges labelled with shapes.
std::string graph_to_dot(const Tensor& root);

}  // namespace weft
