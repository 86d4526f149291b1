// The log: what reaches standard error at which level.
#include "tensor/runtime/log.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

/// What a warning writes at a level, without the time at the line's start.
std::string written_at(LogLevel level) {
  const LogLevel before = log_level();
  log_level(level);
  testing::internal::CaptureStderr();
  log_warn("a {} warning");  // text, not a format
  std::string all = testing::internal::GetCapturedStderr(), lines;
  log_level(before);
  for (size_t at = 0, end; (end = all.find('\n', at)) != std::string::npos; at = end + 1)
    lines += all.substr(all.find(' ', at) + 1, end - all.find(' ', at));
  return lines;
}

TEST(Log, ShowsWarningsByDefault) {
  EXPECT_EQ(log_level(), LogLevel::warning);
  EXPECT_EQ(written_at(log_level()), "weft warning] a {} warning\n");
}

TEST(Log, EachLevelDropsWhatLiesBelow) {
  for (const LogLevel level : {LogLevel::debug, LogLevel::info})
    EXPECT_EQ(written_at(level), "weft warning] a {} warning\n");
  for (const LogLevel level : {LogLevel::error, LogLevel::off}) EXPECT_EQ(written_at(level), "");
}

TEST(Log, LevelsReadBack) {
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::error, LogLevel::off, LogLevel::warning}) {
    log_level(level);
    EXPECT_EQ(log_level(), level);
  }
}

}  // namespace
}  // namespace weft
