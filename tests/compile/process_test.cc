// What the build must not change: IEEE 754 arithmetic, and one OpenMP runtime in the process.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "weft.h"

namespace weft {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Process, FastMathIsOff) {
#ifdef __FAST_MATH__
  FAIL() << "compiled with -ffast-math";
#endif
  volatile double zero = 0.0, nan = kNaN, tiny = 1e-300;
  EXPECT_TRUE(nan != nan);
  EXPECT_TRUE(std::isnan(zero / zero));
  EXPECT_TRUE(std::isinf(1.0 / zero));
  EXPECT_TRUE(std::signbit(-1.0 * zero));
  EXPECT_GT(tiny * 1e-20, 0.0) << "denormals are kept";
}

TEST(Process, KernelsFollowIeee754) {
  for (DType dtype : {f32, f64}) {
    const Tensor x = tensor({0.0, -0.0, 1.0, kInf, -kInf, kNaN}, dtype);
    EXPECT_EQ((x != x).to_vector<double>(), std::vector<double>({0, 0, 0, 0, 0, 1}));
    EXPECT_EQ((1.0 / x).to_vector<double>()[1], -kInf);
    EXPECT_TRUE(std::isnan((x - x).to_vector<double>()[3]));
    EXPECT_TRUE(std::isnan((x * 0.0).to_vector<double>()[4]));
    EXPECT_EQ(x.isnan().sum().item<int64_t>(), 1);
    EXPECT_TRUE(std::isnan(x.sum().item<double>()));
    EXPECT_TRUE(std::isnan(x.max().item<double>()));
    EXPECT_TRUE(std::isnan(relu(x).to_vector<double>()[5]));
    EXPECT_TRUE(std::signbit((x * 1.0).to_vector<double>()[1]));
  }
  // Sums are not reassociated: (1e16 + 1) - 1e16 is 0, not 1.
  const Tensor big = full({1000}, 1e16, f64);
  EXPECT_EQ(((big + 1.0) - big).sum().item<double>(), 0.0);
}

TEST(Process, HasOneOpenMpRuntime) {
  (void)matmul(rand({64, 64}), rand({64, 64}));  // whatever is loaded late is loaded now
  std::set<std::string> runtimes;
  std::ifstream maps("/proc/self/maps");
  ASSERT_TRUE(maps) << "no /proc/self/maps to look at";
  for (std::string line; std::getline(maps, line);)
    for (const char* name : {"libgomp", "libomp", "libiomp"}) {
      const size_t slash = line.rfind('/');
      if (slash != std::string::npos && line.compare(slash + 1, std::string(name).size(), name) == 0)
        runtimes.insert(line.substr(slash));
    }
  EXPECT_LE(runtimes.size(), 1u) << *runtimes.begin() << " and " << *runtimes.rbegin();
}

}  // namespace
}  // namespace weft
