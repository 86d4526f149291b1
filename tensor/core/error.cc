// Errors, and how the parts of their texts are written.
#include "tensor/core/error.h"

#include <charconv>

#include "tensor/core/dtype.h"
#include "tensor/core/shape.h"

namespace weft {

std::string ErrorFrame::complete(std::string_view detail) {
  return (outermost_ != nullptr ? outermost_->printer_(*outermost_) : std::string()).append(detail);
}

Error::Error(std::string_view detail) : std::runtime_error(ErrorFrame::complete(detail)) {}
Error::Error(std::string_view detail, std::vector<std::string> all)
    : std::runtime_error(ErrorFrame::complete(detail)), items(std::move(all)) {}
MemoryError::MemoryError(std::string text) : Error(text), detail(std::move(text)) {}

Error::~Error() = default;
ShapeError::~ShapeError() = default;
DtypeError::~DtypeError() = default;
IndexError::~IndexError() = default;
GradientError::~GradientError() = default;
MemoryError::~MemoryError() = default;
DeviceError::~DeviceError() = default;
IoError::~IoError() = default;

void Error::add_context(std::string_view context) {
  if (has_context_) return;
  has_context_ = true;
  static_cast<std::runtime_error&>(*this) = std::runtime_error(text("in ", context, ": ", what()));
}

namespace detail {

namespace {
template <class Number> void append_number(std::string& out, Number number) {
  char buffer[40];  // the shortest text that reads back as the same double takes at most 24
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr);
}
}  // namespace

void append(std::string& out, std::string_view part) { out += part; }
void append(std::string& out, const char* part) { out += part != nullptr ? part : "(null)"; }
void append(std::string& out, char part) { out += part; }
void append(std::string& out, bool part) { out += part ? "true" : "false"; }
void append(std::string& out, double part) { append_number(out, part); }
void append(std::string& out, long long part) { append_number(out, part); }
void append(std::string& out, unsigned long long part) { append_number(out, part); }
void append(std::string& out, const IntList& part) { out += part.to_string(); }
void append(std::string& out, DType part) { out += name_of(part); }

}  // namespace detail

}  // namespace weft
