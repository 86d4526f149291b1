// A locale that writes 1,5 where programs write 1.5.
#pragma once

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <string>

namespace weft::test {

/// Sets such a locale while it exists: an installed one, or one made from the sources in Debian's package `locales`.
/// False where there is neither.
class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR"})
      set_ = set_ || take(name);
    set_ = set_ || make();
  }
  ~CommaLocale() { std::setlocale(LC_ALL, before_.c_str()); }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;
  explicit operator bool() const { return set_; }

 private:
  static bool take(const char* name) {
    return std::setlocale(LC_ALL, name) != nullptr && std::localeconv()->decimal_point[0] == ',';
  }
  static bool make() {
    const std::string folder = testing::TempDir();
    const std::string command = "localedef -i de_DE -f UTF-8 " + folder + "/de_DE.UTF-8 2>/dev/null";
    return std::system(command.c_str()) == 0 && ::setenv("LOCPATH", folder.c_str(), 1) == 0 && take("de_DE.UTF-8");
  }

  std::string before_;
  bool set_ = false;
};

}  // namespace weft::test
