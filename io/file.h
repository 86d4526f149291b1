// Files: reading at a position, and writing so that a crash leaves the old file or the new one, never a part of one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::io {

/// A regular file opened for reading. All errors are IoError and name the path.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  /// Fills `out` with the bytes from `offset` on; IoError where the file ends before.
  void read(uint64_t offset, void* out, size_t bytes) const;
  /// All of it; IoError where it has more than `limit` bytes.
  std::string read_all(uint64_t limit) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// Writes a file that appears under its name only when it is complete and on disk: a temporary file in the same folder
/// (created exclusively), fsync, rename, fsync of the folder. An existing file keeps its mode, a new one follows the
/// umask; a symbolic link keeps pointing at what it names, and what it names is created where it is absent. Where
/// anything fails, IoError names the path, the old file is untouched and the temporary one is removed. Only a killed
/// process leaves it behind, as `NAME.weft-tmp-NUMBER`; the next save to NAME removes it. A lock (flock) tells it from
/// the temporary file of a save that still runs.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Makes the file appear. Nothing may be written after it.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  void create_temporary();
  void close() noexcept;

  std::string path_;    // as the user gave it
  std::string target_;  // with symbolic links resolved
  std::string temporary_;
  int descriptor_ = -1;
};

/// `bytes` under `path`, by AtomicFile.
void write_file(const std::string& path, std::string_view bytes);

namespace detail {

/// The system calls AtomicFile makes; tests replace them to inject faults.
struct FileCalls {
  ssize_t (*write)(int descriptor, const void* data, size_t bytes);
  int (*sync)(int descriptor);
  int (*rename)(const char* from, const char* to);
};
extern FileCalls file_calls;

/// A text from a file, fit for an error's one line: quoted, shortened, unprintable bytes replaced.
std::string shown(std::string_view text);

/// The exception being handled, as an IoError that names the path.
[[noreturn]] void rethrow_with_path(const std::string& path);

/// Runs f(); whatever it throws becomes an IoError that names the path.
template <class F> decltype(auto) with_path(const std::string& path, F&& f) {
  try {
    return f();
  } catch (...) {
    rethrow_with_path(path);
  }
}

/// CRC-32 (zlib's) of `bytes`, carried on from `crc`.
uint32_t crc32(uint32_t crc, const void* data, size_t bytes);

}  // namespace detail
}  // namespace weft::io
