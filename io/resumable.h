// Resumable: what a checkpoint asks of something that has a position, such as a data loader.
#pragma once

#include <string>

namespace weft::io {

class Resumable {
 public:
  virtual ~Resumable() = default;
  /// Where it stands, as a line of text.
  virtual std::string position() const = 0;
  /// Goes there. Error, and nothing changes, where the text is none of position()'s or does not fit this object.
  virtual void set_position(const std::string& position) = 0;
};

}  // namespace weft::io
