#include "io/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "io/file.h"
#include "tensor/core/error.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::io {

namespace {

/// libpng's simplified interface: errors come back as a code and a text, no jump crosses C++ frames.
struct PngImage {
  png_image image = {};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  void check(int good) const {
    if (good == 0) throw IoError(text("PNG: ", image.message));
  }
};

uint32_t big_endian(const char* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(at[i]);
  return value;
}

/// Error for a damaged chunk and for a missing end. libpng leaves out damaged chunks that change colors (`gAMA`,
/// `tRNS`) and takes memory for the length that a chunk states.
void check_chunks(const std::string& bytes) {
  constexpr size_t kSignature = 8, kAround = 12;  // a chunk: length, type, data, checksum
  if (bytes.size() < kSignature || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignature) != 0)
    throw IoError("no PNG: its first bytes are others");
  for (size_t at = kSignature; at + kAround <= bytes.size();) {
    const char* const type = bytes.data() + at + 4;
    const size_t length = big_endian(bytes.data() + at), left = bytes.size() - at - kAround;
    const std::string name = detail::shown({type, 4});
    if (length > left) throw IoError(text("PNG: chunk ", name, " has ", length, " bytes, and ", left, " are left"));
    if (detail::crc32(0, type, 4 + length) != big_endian(type + 4 + length))
      throw IoError(text("PNG: damaged: the checksum of chunk ", name, " does not match"));
    if (std::string_view(type, 4) == "IEND") return;
    at += kAround + length;
  }
  throw IoError("PNG: truncated: its end is missing");
}

uint8_t to_byte(float value) {
  if (!(value > 0)) return 0;  // NaN too
  return static_cast<uint8_t>(std::lround(std::min(value, 1.0f) * 255.0f));
}

/// (C, H, W) of any floating dtype or u8 as rows of pixels.
std::vector<uint8_t> pixels_of(const Tensor& image) {
  const Tensor rows = image.detach().to(Device::cpu()).permute({1, 2, 0}).contiguous();
  if (rows.dtype() == DType::u8) return rows.to_vector<uint8_t>();
  if (!is_floating(rows.dtype())) throw DtypeError(text("an image is u8 or floating, not ", rows.dtype()));
  const std::vector<float> values = rows.to_vector<float>();
  std::vector<uint8_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), to_byte);
  return out;
}

/// (H, W) or (C, H, W) as the bytes of a PNG file.
std::string encode_png(const Tensor& image) {
  ErrorFrame frame("save_png", image);
  const Tensor planes = image.rank() == 2 ? image.detach().unsqueeze(0) : image.detach();
  if (planes.rank() != 3 || (planes.size(0) != 1 && planes.size(0) != 3) || planes.numel() == 0)
    throw ShapeError("an image is (height, width), (1, height, width) or (3, height, width)");
  constexpr int64_t kLongestSide = 1'000'000;  // libpng's own limit
  if (planes.size(1) > kLongestSide || planes.size(2) > kLongestSide)
    throw ShapeError(text("a PNG has at most ", kLongestSide, " pixels per side"));
  const std::vector<uint8_t> pixels = pixels_of(planes);
  PngImage png;
  png.image.width = static_cast<png_uint_32>(planes.size(2));
  png.image.height = static_cast<png_uint_32>(planes.size(1));
  png.image.format = planes.size(0) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png.image), '\0');
  png_alloc_size_t size = bytes.size();
  png.check(png_image_write_to_memory(&png.image, bytes.data(), &size, 0, pixels.data(), 0, nullptr));
  bytes.resize(size);
  return bytes;
}

}  // namespace

void save_png(const std::string& path, const Tensor& image) { write_file(path, encode_png(image)); }

Tensor load_png(const std::string& path) {
  return detail::with_path(path, [&] {
    constexpr uint64_t kMaxFile = uint64_t{1} << 30;
    const std::string bytes = InputFile(path).read_all(kMaxFile);
    check_chunks(bytes);
    PngImage png;
    png.check(png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()));
    png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else a file that does not say would be linear, in 16 bits alone
    const int64_t height = png.image.height, width = png.image.width;
    const bool color = (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0;
    // Deflate gains at most a factor of 1032, and a pixel has at least one bit.
    constexpr int64_t kMaxPixels = int64_t{1} << 28;
    const int64_t most = std::min<int64_t>(kMaxPixels, static_cast<int64_t>(bytes.size()) * 1032 * 8);
    if (width > most / height)
      throw IoError(text("an image of ", width, " x ", height, " in ", bytes.size(), " bytes"));
    png.image.format = color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    Tensor pixels = empty({height, width, color ? 3 : 1}, DType::u8);
    const png_color black = {0, 0, 0};
    png.check(png_image_finish_read(&png.image, &black, internal::raw(pixels), 0, nullptr));
    return pixels.permute({2, 0, 1}).contiguous();
  });
}

Tensor make_grid(const Tensor& images, int64_t columns, int64_t padding, double background) {
  ErrorFrame frame("make_grid", images);
  if (images.rank() != 4) throw ShapeError("images are (count, channels, height, width)");
  if (columns < 1 || padding < 0)
    throw Error(text("columns must be positive and padding not negative, not ", columns, " and ", padding));
  const int64_t count = images.size(0);
  columns = std::min(columns, std::max<int64_t>(count, 1));
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t down = checked_add(images.size(2), padding), across = checked_add(images.size(3), padding);
  Tensor sheet = full({images.size(1), checked_add(checked_multiply(rows, down), padding),
                       checked_add(checked_multiply(columns, across), padding)},
                      background, images.dtype());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = padding + i / columns * down, left = padding + i % columns * across;
    sheet.narrow(1, top, images.size(2)).narrow(2, left, images.size(3)).copy_(images[i].detach());
  }
  return sheet;
}

}  // namespace weft::io
