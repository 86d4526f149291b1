// Logging to standard error. Warnings are shown; messages of lower levels are off.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

enum class LogLevel : uint8_t { debug, info, warning, error, off };

/// Messages below `level` are dropped. The default is LogLevel::warning.
void log_level(LogLevel level);
LogLevel log_level();

/// For weft's own use: one line. Check `log_level()` before building an expensive message.
void log_warn(std::string_view message);

}  // namespace weft
