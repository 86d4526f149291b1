// How modules print.
#include <ostream>

#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

/// Appends `lines`; those after the first begin with `line`, a line feed and an indent.
void append(std::string& out, const std::string& lines, const std::string& line) {
  for (const char c : lines) c == '\n' ? out += line : out += c;
}

}  // namespace

std::string Module::to_string() const {
  std::string out, line = "\n";  // line: what begins a line of the module that is printed
  const auto print = [&](const auto& self, const Module& module) -> void {
    const State& state = module.state();
    append(out, module.type_name() + "(", line);
    if (state.children.empty()) return append(out, state.options + ")", line);
    if (!state.options.empty()) append(out += line + "  ", state.options, line);
    for (const State::Child& child : state.children) {
      append(out += line + "  ", "(" + child.name + "): ", line);
      line += "  ";
      self(self, Module(child.state));
      line.resize(line.size() - 2);
    }
    out += line + ")";
  };
  print(print, *this);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.to_string(); }

void Module::describe(std::string options) { state().options = std::move(options); }

}  // namespace weft::nn
