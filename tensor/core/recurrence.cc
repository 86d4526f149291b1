#include "tensor/core/recurrence.h"

namespace weft {

std::string attribute_text(Recurrence kind) {
  switch (kind) {
    case Recurrence::rnn_tanh: return "rnn_tanh";
    case Recurrence::rnn_relu: return "rnn_relu";
    case Recurrence::lstm: return "lstm";
    case Recurrence::gru: break;
  }
  return "gru";
}

}  // namespace weft
