#include "tensor/runtime/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace weft {

namespace {

constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                 spdlog::level::err, spdlog::level::off};

/// Never destroyed, so that a static destructor may still log.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("weft", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("[%H:%M:%S %n %l] %v");
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

}  // namespace

void log_level(LogLevel level) { logger().set_level(kLevels[static_cast<int>(level)]); }

LogLevel log_level() {
  for (int i = 0; i < 4; ++i)
    if (logger().level() <= kLevels[i]) return static_cast<LogLevel>(i);
  return LogLevel::off;
}

void log_warn(std::string_view message) {
  logger().log(spdlog::level::warn, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace weft
