// Files: reading at an offset, and atomic writing, after which a crash leaves either the old or the new file, never a
// part.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::io {

/// A regular file opened for reading. All errors are IoError and name the path (but where memory runs out).
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  /// Reads `bytes` bytes at `offset` into `out`. IoError if the file is too short.
  void read(uint64_t offset, void* out, size_t bytes) const;
  /// The whole content. IoError if the file has more than `limit` bytes.
  std::string read_all(uint64_t limit) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// Writes a file that appears under its name only when it is complete and on disk. It creates a temporary file in the
/// same folder (exclusively), calls fsync, renames it, and calls fsync on the folder. So the folder must be writable,
/// and an existing file too, which keeps its mode, but not its owner and other hard links. A new one follows the umask.
/// A symbolic link is kept, and its target is replaced or created. On failure it throws IoError with the path
/// (MemoryError where memory runs out), leaves the old file untouched and removes the temporary file. A process that is
/// killed leaves the temporary file as `NAME.weft-tmp-NUMBER`; the next save to NAME removes it. A lock (flock)
/// distinguishes it from the temporary file of a save in progress.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Puts the file in place. Nothing may be written afterwards.
  void commit();

 private:
  AtomicFile(std::string path, std::string target) : path_(std::move(path)), target_(std::move(target)) {}
  [[noreturn]] void fail(const char* what) const;
  void create_temporary(mode_t mode);
  void close() noexcept;

  std::string path_;    // as the user gave it
  std::string target_;  // with symbolic links resolved
  std::string temporary_;
  int descriptor_ = -1;
};

/// Writes `bytes` to `path` with AtomicFile.
void write_file(const std::string& path, std::string_view bytes);

namespace detail {

/// The system calls of AtomicFile. Tests replace them to inject faults.
struct FileCalls {
  ssize_t (*write)(int descriptor, const void* data, size_t bytes);
  int (*sync)(int descriptor);
  int (*rename)(const char* from, const char* to);
};
extern FileCalls file_calls;

/// Formats a text from a file for a one-line error message: quoted, shortened, with unprintable bytes replaced.
std::string shown(std::string_view text);

/// Rethrows the current exception with the path: MemoryError and std::bad_alloc as a MemoryError, others as an IoError.
[[noreturn]] void rethrow_with_path(const std::string& path);

/// Runs f(). An exception gets the path: see rethrow_with_path().
template <class F> decltype(auto) with_path(const std::string& path, F&& f) {
  try {
    return f();
  } catch (...) {
    rethrow_with_path(path);
  }
}

/// Whether `text` is valid UTF-8: no overlong encoding, no surrogate, no code point above U+10FFFF.
bool is_utf8(std::string_view text);

/// CRC-32 (as zlib's) of `bytes`, continued from `crc`.
uint32_t crc32(uint32_t crc, const void* data, size_t bytes);

}  // namespace detail
}  // namespace weft::io
