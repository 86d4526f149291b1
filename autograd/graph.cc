#include "autograd/graph.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "autograd/node.h"

namespace weft {
namespace {

using autograd::Edge;
using autograd::Node;

std::map<uint64_t, const Node*> nodes_of(const Tensor& root) {
  const Node* node = autograd::node_of(root);
  return node != nullptr ? autograd::nodes_behind({node}) : std::map<uint64_t, const Node*>();
}

std::string result_text(const Node& node) {
  std::string out;
  for (int i = 0; i < node.output_count(); ++i) {
    if (i > 0) out += ", ";
    out += text(node.meta(i)->shape, " ", node.meta(i)->dtype);
  }
  return out;
}

std::string escaped(const std::string& raw) {
  std::string out;
  for (char c : raw) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string print_graph(const Tensor& root) {
  ErrorFrame frame("print_graph", root);
  const auto nodes = nodes_of(root);
  std::map<const Node*, size_t> numbers;
  for (const auto& [sequence, node] : nodes) numbers.emplace(node, numbers.size());
  std::string out;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = *it->second;
    out += text("%", numbers[&node], " = ", node.describe());
    if (!node.is_leaf()) {
      out += " <-";
      for (const Edge& edge : node.edges()) out += edge.node ? text(" %", numbers[edge.node.get()]) : std::string(" .");
    }
    out += text("  : ", result_text(node));
    if (node.saved_bytes() > 0) out += text("  (keeps ", node.saved_bytes(), " bytes)");
    out += "\n";
  }
  return out;
}

std::string graph_to_dot(const Tensor& root) {
  ErrorFrame frame("graph_to_dot", root);
  std::string out = "digraph weft {\n  rankdir=TB;\n";
  for (const auto& [sequence, node] : nodes_of(root)) {
    const char* style = !node->is_leaf()        ? "shape=ellipse"
                        : node->requires_grad() ? "shape=box"
                                                : "shape=box, color=red";
    out += text("  n", sequence, " [label=\"", escaped(node->describe()), "\\n", escaped(result_text(*node)), "\", ",
                style, "];\n");
    for (const Edge& edge : node->edges())
      if (edge.node)
        out += text("  n", edge.node->sequence(), " -> n", sequence, " [label=\"",
                    escaped(edge.node->meta(edge.index)->shape.to_string()), "\"];\n");
  }
  return out + "}\n";
}

autograd::MemoryReport autograd::memory_report(const Tensor& root) {
  ErrorFrame frame("memory_report", root);
  const auto nodes = nodes_of(root);
  std::map<std::string, KeptByOp> by_op;
  std::unordered_set<const Storage*> counted;
  MemoryReport out;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = *it->second;
    if (node.is_leaf()) continue;
    KeptByOp& row = by_op[node.name()];
    ++row.nodes;
    node.visit_saved([&](const Saved& saved, bool refers_to_leaf) {
      if (saved.storage && !counted.insert(saved.storage.get()).second) return;
      (refers_to_leaf ? out.parameter_bytes : row.bytes) += saved.bytes();
    });
  }
  for (auto& [op, row] : by_op) {
    row.op = op;
    out.bytes += row.bytes;
    out.ops.push_back(std::move(row));
  }
  std::stable_sort(out.ops.begin(), out.ops.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

std::string autograd::MemoryReport::to_string() const {
  size_t width = 5;
  for (const KeptByOp& row : ops) width = std::max(width, row.op.size());
  const auto line = [&](const std::string& name, const std::string& middle, int64_t count) {
    return name + std::string(width - name.size() + 2, ' ') + middle + text(count, " bytes\n");
  };
  std::string all;
  for (const KeptByOp& row : ops)
    all += line(row.op, text(row.nodes, row.nodes == 1 ? " node, " : " nodes, "), row.bytes);
  return all + line("total", "", bytes) + text("and ", parameter_bytes, " bytes of parameters\n");
}

}  // namespace weft
