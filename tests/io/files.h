// Folders and raw bytes for tests of file formats.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tensor/core/error.h"
#include "tests/error_of.h"

namespace weft::test {

/// A folder of the test's own, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "/weft.XXXXXX";
    path_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
    EXPECT_FALSE(path_.empty());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_.string() + "/" + name; }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// load(path) of a file with these bytes.
template <class Load> auto loaded(std::string_view bytes, const Load& load) {
  static const Folder folder;
  write_bytes(folder / "a", bytes);
  return load(folder / "a");
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// `value` in little-endian order.
template <class T> std::string raw(T value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

/// The text of the IoError that f() throws; fails where it throws nothing or anything else.
template <class F> std::string io_error(F&& f) {
  try {
    f();
  } catch (const IoError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "no IoError but: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace weft::test
