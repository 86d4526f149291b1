#include "io/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

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

namespace {

std::string line_with_path(const std::string& path, const std::string& reason) {
  const std::string start = path + ":";
  std::string line = path.empty() || reason.starts_with(start) ? reason : start + " " + reason;  // the path once
  // what() is one line, and ends at a zero byte.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, '?');
  return line;
}

}  // namespace

void rethrow_with_path(const std::string& path) {
  try {
    throw;
  } catch (const MemoryError& error) {
    throw MemoryError(line_with_path(path, error.what()));
  } catch (const std::bad_alloc&) {
    throw MemoryError(line_with_path(path, "out of memory"));
  } catch (const std::exception& error) {
    throw IoError(line_with_path(path, error.what()));
  }
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  for (size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    if (first < 0x80) {
      i += 1;
    } else if (first >= 0xc2 && first <= 0xdf && follows(i + 1)) {
      i += 2;
    } else if (first >= 0xe0 && first <= 0xef &&
               follows(i + 1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(i + 2)) {
      i += 3;
    } else if (first >= 0xf0 && first <= 0xf4 &&
               follows(i + 1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(i + 2) &&
               follows(i + 3)) {
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  return static_cast<uint32_t>(::crc32_z(crc, static_cast<const unsigned char*>(data), bytes));
}

}  // namespace detail

namespace {

/// One system call reads or writes less than 2 GiB.
constexpr size_t kMostPerCall = size_t{1} << 30;

std::string system_reason() { return std::strerror(errno); }

/// What the system call `call` returns, made again for as long as a signal interrupts it.
template <class Call> auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What the symbolic link `path` says, as a path; empty where it is no link.
std::string link_target(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), buffer, sizeof(buffer));
  if (length <= 0) return {};
  const std::string target(buffer, static_cast<size_t>(length));
  return target.front() == '/' ? target : folder_of(path) + "/" + target;
}

/// IoError for names that the system would read as another one.
void check_name(const std::string& path) {
  if (path.empty()) throw IoError("the name of the file is empty");
  if (path.find('\0') != std::string::npos) throw IoError("the name of the file holds a zero byte");
}

/// The file that a name stands for, which need not exist yet.
std::string resolve_links(const std::string& path) {
  check_name(path);
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (resolved) return resolved.get();
  if (errno == ELOOP) throw IoError(text(path, ": cannot be resolved: ", system_reason()));
  // Absent: a dangling link leads to the file that is to be made. A loop was refused above, so the recursion ends.
  const std::string target = link_target(path);
  return target.empty() ? path : resolve_links(target);
}

/// `NAME.weft-tmp-NUMBER` beside `target`; a long name is shortened, as file systems allow 255 bytes.
std::string temporary_name(const std::string& target, int number) {
  constexpr size_t kLongest = 200;
  const size_t start = target.rfind('/') + 1;  // 0 without a slash
  const std::string name = target.substr(start);
  std::string kept = name;
  if (name.size() > kLongest) kept = text(name.substr(0, kLongest), "-", detail::crc32(0, name.data(), name.size()));
  return text(target.substr(0, start), kept, ".weft-tmp-", number);
}

/// Removes the temporary file of a killed process: one that is locked by no save. Says whether there was one.
bool remove_abandoned(const std::string& temporary) {
  const int descriptor = ::open(temporary.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat locked = {}, named = {};
  // The name may belong to a newer file by the time the lock is held; only who holds a file's lock removes it.
  const bool abandoned = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &locked) == 0 &&
                         ::lstat(temporary.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
                         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
  const bool removed = abandoned && ::unlink(temporary.c_str()) == 0;
  ::close(descriptor);
  return removed;
}

bool sync(int descriptor) {
  return uninterrupted([&] { return detail::file_calls.sync(descriptor); }) == 0;
}

/// Makes a rename in `folder` durable. File systems that cannot sync a folder answer EINVAL, which is accepted.
bool sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = sync(descriptor) || errno == EINVAL;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return good;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  check_name(path);
  // O_NONBLOCK: opening a named pipe must not wait for a writer; regular files do not care.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw IoError(text(path, ": cannot open: ", system_reason()));
  struct stat status = {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const char* const reason = known ? "not a regular file" : std::strerror(errno);
    ::close(descriptor_);
    throw IoError(text(path, ": ", reason));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(uint64_t offset, void* out, size_t bytes) const {
  char* position = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t count = uninterrupted(
        [&] { return ::pread(descriptor_, position, std::min(bytes, kMostPerCall), static_cast<off_t>(offset)); });
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

// (It delegates, so that where it throws, the destructor removes what was created.)
AtomicFile::AtomicFile(const std::string& path) : AtomicFile(path, resolve_links(path)) {
  struct stat existing = {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) throw IoError(text(path, ": exists and is not a regular file"));
  // (Not EPERM: old sandboxes answer the call itself with it.)
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0 && (errno == EACCES || errno == EROFS))
    fail("cannot write");
  create_temporary(exists ? existing.st_mode & 0666 : 0666);  // readable by none who may not read the old one
  if (exists && ::fchmod(descriptor_, existing.st_mode & 07777) != 0) fail("cannot keep its mode");
}

void AtomicFile::create_temporary(mode_t mode) {
  constexpr int kMostSaves = 1000;  // to one name at a time
  for (int number = 0; number < kMostSaves; ++number) {
    std::string name = temporary_name(target_, number);
    remove_abandoned(name);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno == EEXIST) continue;  // of a save that runs
    if (descriptor_ < 0) fail("cannot create a file beside it");
    // Another save may have taken the new file for an abandoned one before it was locked. File systems without locks
    // fail here, and in remove_abandoned too: nothing is removed there.
    struct stat status = {};
    (void)uninterrupted([&] { return ::flock(descriptor_, LOCK_EX); });
    if (::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) {
      temporary_ = std::move(name);
      while (remove_abandoned(temporary_name(target_, ++number))) {
      }
      return;
    }
    ::close(descriptor_);
    descriptor_ = -1;
  }
  errno = EEXIST;
  fail("cannot create a file beside it");
}

AtomicFile::~AtomicFile() { close(); }

void AtomicFile::close() noexcept {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());  // while its lock is held
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  temporary_.clear();
}

void AtomicFile::fail(const char* what) const { throw IoError(text(path_, ": ", what, ": ", system_reason())); }

void AtomicFile::write(const void* data, size_t bytes) {
  const char* position = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count =
        uninterrupted([&] { return detail::file_calls.write(descriptor_, position, std::min(bytes, kMostPerCall)); });
    if (count == 0) errno = ENOSPC;
    if (count <= 0) fail("cannot write");
    position += count;
    bytes -= static_cast<size_t>(count);
  }
}

void AtomicFile::commit() {
  const std::string folder = folder_of(target_);  // before the rename: nothing asks for memory after it
  if (!sync(descriptor_)) fail("cannot write to disk");
  // The descriptor holds the lock: it is closed after the rename. What close() could report, sync has reported.
  if (detail::file_calls.rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot rename the new file");
  temporary_.clear();
  close();
  if (!sync_folder(folder)) fail("the new file is in place, but its folder cannot be synced");
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace weft::io
