// How modules print.
#include <ostream>

#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

std::string indented(const std::string& lines) {
  std::string out;
  for (const char c : lines) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return out;
}

}  // namespace

std::string Module::to_string() const {
  const State& self = state();
  if (self.children.empty()) return type_name() + "(" + self.options + ")";
  std::string out = type_name() + "(\n";
  if (!self.options.empty()) out += "  " + self.options + "\n";
  for (const State::Child& child : self.children)
    out += "  (" + child.name + "): " + indented(Module(child.state).to_string()) + "\n";
  return out + ")";
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.to_string(); }

void Module::describe(std::string options) { state().options = std::move(options); }

}  // namespace weft::nn
