#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "io/byte_order.h"
#include "io/file.h"
#include "io/npy_header.h"
#include "tensor/core/error.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::io {

namespace {

constexpr uint64_t kMaxHeader = 10'000;

struct Found {
  detail::NpyHeader header;
  uint64_t data_begin = 0;
};

Found read_header(const InputFile& file) {
  std::array<uint8_t, 12> start = {};
  if (file.size() < start.size()) throw IoError(text(file.size(), " bytes, too short for a .npy file"));
  file.read(0, start.data(), start.size());
  if (std::memcmp(start.data(), "PK\3\4", 4) == 0)
    throw IoError("a zip archive, as numpy.savez writes (.npz); save its arrays one by one with numpy.save (.npy)");
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
    throw IoError("not a .npy file: it does not begin with \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    throw IoError(text("version ", version, ".", int{start[7]}, " of .npy; 1.0, 2.0 and 3.0 are known"));
  const uint64_t begin = version == 1 ? 10 : 12;
  uint64_t length = uint64_t{start[8]} | uint64_t{start[9]} << 8;
  if (version > 1) length |= uint64_t{start[10]} << 16 | uint64_t{start[11]} << 24;
  if (length > kMaxHeader) throw IoError(text("a header of ", length, " bytes; at most ", kMaxHeader, " are accepted"));
  if (length > file.size() - begin) throw IoError(text("a header of ", length, " bytes in a file of ", file.size()));
  std::string dict(static_cast<size_t>(length), '\0');
  file.read(begin, dict.data(), dict.size());
  return {detail::parse_npy_header(dict), begin + length};
}

}  // namespace

Tensor load_npy(const std::string& path) {
  return detail::with_path(path, [&] {
    const InputFile file(path);
    auto [header, data_begin] = read_header(file);
    const int64_t bytes = checked_multiply(checked_numel(header.shape), static_cast<int64_t>(size_of(header.dtype)));
    const uint64_t present = file.size() - data_begin;
    if (present != static_cast<uint64_t>(bytes))
      throw IoError(text(header.shape, " of ", header.dtype, " takes ", bytes, " bytes, the file has ", present));
    // In Fortran order the first axis moves fastest: row-major memory of the reversed shape.
    Shape stored = header.shape;
    if (header.fortran_order) std::reverse(stored.begin(), stored.end());
    Tensor out = empty(stored, header.dtype);
    file.read(data_begin, internal::raw(out), static_cast<size_t>(bytes));
    if (header.big_endian) detail::swap_bytes(internal::raw(out), out.numel(), size_of(header.dtype));
    if (header.dtype == DType::boolean) detail::check_bools(out);
    if (!header.fortran_order) return out;
    IntList reversed;
    for (int64_t axis = out.rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
    return out.permute(reversed).contiguous();
  });
}

void save_npy(const std::string& path, const Tensor& x) {
  const std::pair contents = [&] {
    ErrorFrame frame("save_npy", x);
    return std::pair(detail::write_npy_header(x.dtype(), x.shape()), internal::host_row_major(x));
  }();
  detail::with_path(path, [&] {
    AtomicFile file(path);
    file.write(contents.first);
    file.write(detail::row_major_bytes(contents.second));
    file.commit();
  });
}

}  // namespace weft::io
