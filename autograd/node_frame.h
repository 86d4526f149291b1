// The frame of errors that are thrown while a node runs: ``backward of `softmax`: ...``.
#pragma once

#include "autograd/node.h"

namespace weft::autograd {

/// While alive, errors name the node instead of the outermost public function (backward()).
class NodeFrame : public ErrorFrame {
 public:
  NodeFrame(const char* what, const Node& node)
      : ErrorFrame(&NodeFrame::opening), what_(what), node_(node), replaced_(exchange_outermost(this)) {}
  ~NodeFrame() { exchange_outermost(replaced_); }

 private:
  static std::string opening(const ErrorFrame& frame) {
    const auto& self = static_cast<const NodeFrame&>(frame);
    return text(self.what_, " `", self.node_.name(), "`: ");
  }
  const char* what_;
  const Node& node_;
  const ErrorFrame* const replaced_;
};

}  // namespace weft::autograd
