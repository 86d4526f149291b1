#include "distributed/data_parallel/same.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "distributed/communicator.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"

namespace weft::distributed {
namespace {

/// FNV-1a.
int64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return static_cast<int64_t>(hash);
}

/// The first line of `own` that `other` has not at its place.
std::string first_difference(const std::string& own, const std::string& other) {
  std::istringstream a(own), b(other);
  for (std::string x, y;;) {
    const bool has_x = bool(std::getline(a, x)), has_y = bool(std::getline(b, y));
    if (!has_x && !has_y) return "nothing that shows";
    if (!has_x || !has_y || x != y)
      return text("`", has_x ? x : "nothing", "`, where rank 0 has `", has_y ? y : "nothing", "`");
  }
}

}  // namespace

void require_same(const Group& group, const std::string& lines, const char* what) {
  const std::vector<int64_t> seen =
      group.all_gather(Tensor::from(std::vector<int64_t>{hash_of(lines), static_cast<int64_t>(lines.size())}))
          .to_vector<int64_t>();
  size_t differs = 0, longest = lines.size();
  for (size_t rank = seen.size() / 2; rank-- > 1;) {
    longest = std::max(longest, static_cast<size_t>(seen[2 * rank + 1]));
    if (seen[2 * rank] != seen[0] || seen[2 * rank + 1] != seen[1]) differs = rank;
  }
  longest = std::max(longest, static_cast<size_t>(seen[1]));
  if (differs == 0) return;
  std::vector<uint8_t> padded(longest, 0);
  std::copy(lines.begin(), lines.end(), padded.begin());
  const std::vector<uint8_t> all = group.all_gather(Tensor::from(padded)).to_vector<uint8_t>();
  const auto text_of = [&](size_t rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
    return std::string(begin, begin + seen[2 * rank + 1]);
  };
  const std::string why = text(what, ": rank ", differs, " has ", first_difference(text_of(differs), text_of(0)));
  group.communicator().give_up(why);
  throw DistributedError(text("rank ", group.rank(), ": ", why));
}

}  // namespace weft::distributed
