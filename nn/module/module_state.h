// What a module's handles share. For nn/'s own files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/module/module.h"

namespace weft::nn {

struct Module::State {
  struct Buffer {
    std::string name;
    Tensor tensor;
    bool saved;
  };
  struct Child {
    std::string name;
    std::shared_ptr<State> state;
  };

  std::string type;     // the class, known once it is registered or asked for
  std::string path;     // `first.conv.` for what lies in it; empty at the root
  std::string options;  // as it prints
  struct Hook {
    int number;
    ForwardPreHook before;  // one of the two
    ForwardHook after;
  };
  std::vector<Hook> hooks;
  int hooks_made = 0;
  Generator* generator = nullptr;  // null: the process's
  bool adopted = false;
  std::weak_ptr<State> parent;   // of one that is adopted
  bool computes_weight = false;  // its class has a forward() around that of its base
  bool is_batch_norm = false;
  bool training = true;
  std::vector<NamedTensor> parameters;
  std::vector<Buffer> buffers;
  std::vector<Child> children;

  ~State() { detail::forward_hooks -= static_cast<int>(hooks.size()); }

  /// Calls visit(prefix, state) for this and all below, parents first; `prefix` is "" or ends in a dot.
  template <class F> void walk(const F& visit, const std::string& prefix = "") {
    visit(prefix, *this);
    for (const Child& child : children) child.state->walk(visit, prefix + child.name + ".");
  }
};

namespace detail {
/// The tensor keeps its identity (for optimizers, and for every handle) and gets the memory of `converted`, whose
/// version is above the old memory's from then on.
void take_memory(const Tensor& tensor, const Tensor& converted);
}  // namespace detail

}  // namespace weft::nn
