// A locale that writes 1,5 where programs write 1.5.
#pragma once

#include <clocale>
#include <string>

namespace weft::test {

/// Sets such a locale while it exists; false where none is installed.
class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR"})
      set_ = set_ || (std::setlocale(LC_ALL, name) != nullptr && std::localeconv()->decimal_point[0] == ',');
  }
  ~CommaLocale() { std::setlocale(LC_ALL, before_.c_str()); }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;
  explicit operator bool() const { return set_; }

 private:
  std::string before_;
  bool set_ = false;
};

}  // namespace weft::test
