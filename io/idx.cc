#include "io/idx.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "io/byte_order.h"
#include "io/file.h"
#include "tensor/core/error.h"
#include "tensor/functions/fill.h"

namespace weft::io {

namespace {

/// Reads a file that may be gzipped; zlib tells by the first two bytes.
class GzipFile {
 public:
  explicit GzipFile(const InputFile& file) {
    const int descriptor = ::dup(file.descriptor());
    file_ = descriptor < 0 ? nullptr : ::gzdopen(descriptor, "rb");
    if (file_ == nullptr) {
      if (descriptor >= 0) ::close(descriptor);
      throw IoError("cannot open");
    }
  }
  ~GzipFile() { ::gzclose_r(file_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void read(void* out, size_t bytes) {
    for (char* position = static_cast<char*>(out); bytes > 0;) {
      constexpr size_t kMost = size_t{1} << 30;
      const int count = ::gzread(file_, position, static_cast<unsigned>(std::min(bytes, kMost)));
      if (count <= 0) fail(bytes);
      position += count;
      bytes -= static_cast<size_t>(count);
    }
  }
  /// Nothing is left, and a gzipped file's checksum is right.
  void expect_end() {
    char more;
    const int count = ::gzread(file_, &more, 1);
    if (count > 0) throw IoError("bytes follow the last value");
    if (const std::string_view reason = error(); count < 0 || !reason.empty()) throw IoError(text("damaged: ", reason));
  }

 private:
  /// zlib's words, without the name that it gives a descriptor (`<fd:4>: `); empty if there is no error.
  std::string_view error() {
    int status = Z_OK;
    const std::string_view reason = ::gzerror(file_, &status);
    if (status == Z_OK) return {};
    const size_t name = reason.starts_with("<fd:") ? reason.find(": ") : std::string_view::npos;
    return name == std::string_view::npos ? reason : reason.substr(name + 2);
  }
  [[noreturn]] void fail(size_t missing) {
    if (const std::string_view reason = error(); !reason.empty()) throw IoError(text("damaged: ", reason));
    throw IoError(text("truncated: ", missing, " bytes are missing"));
  }
  gzFile file_;
};

DType idx_dtype(uint8_t code) {
  switch (code) {
    case 0x08: return DType::u8;
    case 0x09: return DType::i8;
    case 0x0b: return DType::i16;
    case 0x0c: return DType::i32;
    case 0x0d: return DType::f32;
    case 0x0e: return DType::f64;
    default: throw IoError(text("element type ", int{code}, " is none that IDX has"));
  }
}

}  // namespace

Tensor load_idx(const std::string& path) {
  return detail::with_path(path, [&] {
    const InputFile file(path);
    GzipFile stream(file);
    std::array<uint8_t, 4> magic = {};
    stream.read(magic.data(), magic.size());
    if (magic[0] != 0 || magic[1] != 0) throw IoError("not an IDX file: it does not begin with two zero bytes");
    const DType dtype = idx_dtype(magic[2]);
    if (magic[3] > kMaxAxes) throw IoError(text(int{magic[3]}, " axes; at most ", kMaxAxes, " are accepted"));
    Shape shape;
    for (int axis = 0; axis < magic[3]; ++axis) {
      std::array<uint8_t, 4> size = {};
      stream.read(size.data(), size.size());
      shape.push_back(int64_t{size[0]} << 24 | int64_t{size[1]} << 16 | int64_t{size[2]} << 8 | int64_t{size[3]});
    }
    const int64_t bytes = checked_multiply(checked_numel(shape), static_cast<int64_t>(size_of(dtype)));
    // Deflate gains at most a factor of 1032, so what cannot be in the file is refused before memory is asked for.
    constexpr uint64_t kMostPerByte = 1032;
    if (static_cast<uint64_t>(bytes) / kMostPerByte > file.size())
      throw IoError(text("truncated: ", shape, " of ", dtype, " takes ", bytes, " bytes, the file has ", file.size()));
    Tensor out = empty(shape, dtype);
    stream.read(internal::raw(out), static_cast<size_t>(bytes));
    stream.expect_end();
    detail::swap_bytes(internal::raw(out), out.numel(), size_of(dtype));
    return out;
  });
}

}  // namespace weft::io
