// Damaged files: thousands of random changes to good files of every format, and files of random bytes. A reader gives a
// tensor or throws a weft::Error; nothing else. WEFT_SEED=<n> repeats a run; WEFT_PROPERTY_DIVISOR=<n> runs 1/n of it.
#include <functional>
#include <random>
#include <vector>

#include "io/checkpoint.h"
#include "io/file.h"
#include "io/idx.h"
#include "io/image.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "nn/layers/linear.h"
#include "optim/adam.h"
#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/golden_files.h"
#include "tests/setting.h"

namespace weft {
namespace {

using test::Folder;

/// Changes bytes as disks, transfers and attackers do.
class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  std::string random_bytes() {
    std::string bytes(below(200), '\0');
    for (char& byte : bytes) byte = any_byte();
    return bytes;
  }
  std::string damaged(std::string bytes) {
    for (uint64_t changes = 1 + below(3); changes > 0; --changes) change(bytes);
    return bytes;
  }
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  char any_byte() { return static_cast<char>(below(256)); }

  void change(std::string& bytes) {
    const size_t at = below(bytes.size() + 1), length = below(17);
    switch (below(8)) {
      case 0: bytes.resize(at); break;                                         // cut off
      case 1: bytes.erase(at, length); break;                                  // a hole
      case 2: bytes.insert(at, length, any_byte()); break;                     // a run
      case 3: bytes.insert(at, bytes.substr(below(bytes.size()), 40)); break;  // a piece twice
      case 4: write(bytes, at, test::raw(kNumbers[below(std::size(kNumbers))])); break;
      case 5: replace_digit(bytes); break;
      case 6:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      default:
        if (at < bytes.size()) bytes[at] = any_byte();
    }
  }
  static void write(std::string& bytes, size_t at, const std::string& number) {
    bytes.replace(at, std::min(number.size(), bytes.size() - at), number);
  }
  /// Headers that are text keep their sizes in digits.
  void replace_digit(std::string& bytes) {
    const size_t found = bytes.find_first_of("0123456789", below(bytes.size()));
    if (found != std::string::npos) bytes.replace(found, 1, kDigits[below(std::size(kDigits))]);
  }

  static constexpr uint64_t kNumbers[] = {0, 1, 255, 0x7fffffff, 0xffffffff, uint64_t{1} << 63, ~uint64_t{0}, 1u << 20};
  static constexpr const char* kDigits[] = {"-1", "0", "9", "18446744073709551616", "4294967296", "1e9", ".", ""};
  std::mt19937_64 random_;
};

/// Everything that a tensor holds is there to be read.
void touch(const Tensor& x) { (void)x.to(f64).sum().item<double>(); }

/// Runs `read` on damaged forms of the files.
void fuzz(const std::vector<std::string>& files, const std::function<void(const std::string&)>& read) {
  const auto seed = static_cast<uint64_t>(testing::setting("WEFT_SEED", 20240607));
  const auto rounds = static_cast<uint64_t>(testing::property_cases(3000));
  const Folder folder;
  const std::string path = folder / "file";
  Damage damage(seed);
  uint64_t read_well = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    const std::string bytes = i % 10 == 0 ? damage.random_bytes() : damage.damaged(files[damage.below(files.size())]);
    std::filesystem::remove(path);  // a new file each time: truncating one waits for the disk on some systems
    test::write_bytes(path, bytes);
    try {
      read(path);
      ++read_well;
    } catch (const Error& error) {
      ASSERT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    } catch (const std::exception& error) {
      FAIL() << "round " << i << " of WEFT_SEED=" << seed << ": no weft::Error but " << error.what();
    }
  }
  EXPECT_LT(read_well, rounds);
  std::printf("%llu of %llu damaged files could still be read\n", static_cast<unsigned long long>(read_well),
              static_cast<unsigned long long>(rounds));
}

TEST(Fuzz, Safetensors) {
  fuzz({std::string(test::kSafetensors)}, [](const std::string& path) {
    io::Metadata metadata;
    for (const auto& [name, tensor] : io::load_safetensors(path, &metadata)) touch(tensor);
  });
}

TEST(Fuzz, Npy) {
  std::vector<std::string> files;
  for (const std::string_view file : {test::kNpyF4, test::kNpyBigEndian, test::kNpyFortran, test::kNpyVersion2,
                                      test::kNpyVersion3, test::kNpyScalar, test::kNpyBigEndianFortran})
    files.emplace_back(file);
  fuzz(files, [](const std::string& path) { touch(io::load_npy(path)); });
}

TEST(Fuzz, IdxPlainAndGzipped) {
  fuzz({std::string(test::kIdx), std::string(test::kIdxGzip)},
       [](const std::string& path) { touch(io::load_idx(path)); });
}

/// Chunk checksums as they would have to be, so that damage gets past them.
std::string with_checksums(std::string bytes) {
  constexpr size_t kSignature = 8;
  const auto big_endian = [&](size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
  };
  for (size_t at = kSignature; at + 12 <= bytes.size();) {
    const uint64_t length = big_endian(at);
    if (length > bytes.size() - at - 12) break;
    const uint32_t crc = io::detail::crc32(0, bytes.data() + at + 4, length + 4);
    for (size_t i = 0; i < 4; ++i) bytes[at + 8 + length + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += length + 12;
  }
  return bytes;
}

TEST(Fuzz, Png) {
  fuzz({std::string(test::kPngRgb), std::string(test::kPngGray), std::string(test::kPngHuge)},
       [](const std::string& path) { touch(io::load_png(path)); });
  fuzz({std::string(test::kPngRgb), std::string(test::kPngGray)}, [](const std::string& path) {
    const std::string bytes = with_checksums(test::read_bytes(path));
    std::filesystem::remove(path);
    test::write_bytes(path, bytes);
    touch(io::load_png(path));
  });
}

TEST(Fuzz, Checkpoint) {
  manual_seed(3);
  nn::Linear model(3, 2);
  optim::Adam optimizer(model.parameters(), {});
  sum(model(ones({1, 3}))).backward();
  optimizer.step();
  std::map<std::string, std::string> fields = {{"epoch", "3"}};
  const io::CheckpointParts parts = {.model = &model, .optimizer = &optimizer, .fields = &fields};
  const Folder folder;
  io::save_checkpoint(folder / "good", parts);
  const StateDict before = model.clone_state();
  fuzz({test::read_bytes(folder / "good")}, [&](const std::string& path) { io::load_checkpoint(path, parts); });
  for (const auto& [name, tensor] : model.state_dict()) EXPECT_TRUE(equal(tensor, before.at(name))) << name;
}

}  // namespace
}  // namespace weft
