#include "io/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "tensor/core/error.h"

namespace weft::io {

namespace detail {

FileCalls file_calls = {::write, ::fsync, ::rename};

std::string shown(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > kLongest ? "...'" : "'");
}

void rethrow_with_path(const std::string& path) {
  std::string reason;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    reason = "not enough memory";
  } catch (const std::exception& error) {
    reason = error.what();
  }
  // What already names the path says it once.
  throw IoError(reason.find(path) != std::string::npos ? reason : path + ": " + reason);
}

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  return static_cast<uint32_t>(::crc32_z(crc, static_cast<const unsigned char*>(data), bytes));
}

}  // namespace detail

namespace {

std::string system_reason() { return std::strerror(errno); }

/// The file that a name stands for; the name itself where nothing is there yet.
std::string resolve_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  return resolved ? std::string(resolved.get()) : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Makes a rename in `folder` last. Some file systems cannot sync a folder; their word is all there is.
bool sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = detail::file_calls.sync(descriptor) == 0 || errno == EINVAL;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return good;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer; regular files do not care.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw IoError(text(path, ": cannot open: ", system_reason()));
  struct stat status = {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string reason = known ? "not a regular file" : system_reason();
    ::close(descriptor_);
    throw IoError(text(path, ": ", reason));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(uint64_t offset, void* out, size_t bytes) const {
  char* position = static_cast<char*>(out);
  while (bytes > 0) {
    constexpr size_t kMost = size_t{1} << 30;  // one call reads less than 2 GiB
    const ssize_t count = ::pread(descriptor_, position, std::min(bytes, kMost), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(text(path_, ": cannot read: ", system_reason()));
    if (count == 0) throw IoError(text(path_, ": ends at byte ", offset, " where ", bytes, " more were expected"));
    position += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
}

std::string InputFile::read_all(uint64_t limit) const {
  if (size_ > limit) throw IoError(text(path_, ": ", size_, " bytes, more than the ", limit, " allowed here"));
  std::string bytes(static_cast<size_t>(size_), '\0');
  read(0, bytes.data(), bytes.size());
  return bytes;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(resolve_links(path)) {
  struct stat existing = {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) throw IoError(text(path, ": exists and is not a regular file"));
  static std::atomic<uint64_t> counter{0};
  do {
    temporary_ = text(target_, ".tmp.", ::getpid(), ".", counter.fetch_add(1));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);  // left by a killed process that had this number
  if (descriptor_ < 0) fail("cannot create a file beside it");
  if (exists && ::fchmod(descriptor_, existing.st_mode & 07777) != 0) {
    const int reason = errno;
    close();
    errno = reason;
    fail("cannot keep its mode");
  }
}

AtomicFile::~AtomicFile() { close(); }

void AtomicFile::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  descriptor_ = -1;
  temporary_.clear();
}

void AtomicFile::fail(const char* what) const { throw IoError(text(path_, ": ", what, ": ", system_reason())); }

void AtomicFile::write(const void* data, size_t bytes) {
  const char* position = static_cast<const char*>(data);
  while (bytes > 0) {
    constexpr size_t kMost = size_t{1} << 30;
    const ssize_t count = detail::file_calls.write(descriptor_, position, std::min(bytes, kMost));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) fail("cannot write");
    position += count;
    bytes -= static_cast<size_t>(count);
  }
}

void AtomicFile::commit() {
  if (detail::file_calls.sync(descriptor_) != 0) fail("cannot write to disk");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot write");
  if (detail::file_calls.rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename the new file");
  temporary_.clear();
  if (!sync_folder(folder_of(target_))) fail("the new file is in place, but its folder cannot be synced");
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace weft::io
