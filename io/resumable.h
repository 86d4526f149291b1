// Resumable: the interface of objects whose position a checkpoint saves, such as a data loader.
#pragma once

#include <string>

namespace weft::io {

class Resumable {
 public:
  virtual ~Resumable() = default;
  /// The current position, as one line of text.
  virtual std::string position() const = 0;
  /// Moves to `position`. Error, without changing anything, if the text is not from position() or does not fit this
  /// object.
  virtual void set_position(const std::string& position) = 0;
};

}  // namespace weft::io
