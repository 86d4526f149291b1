#include "distributed/data_parallel/same.h"

#include <sstream>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/texts.h"
#include "tensor/functions/fill.h"

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
  const std::vector<int64_t> hashes =
      group.all_gather(Tensor::from(std::vector<int64_t>{hash_of(lines)})).to_vector<int64_t>();
  size_t differs = 0;
  for (size_t rank = hashes.size(); rank-- > 1;)
    if (hashes[rank] != hashes[0]) differs = rank;
  if (differs == 0) return;
  const std::vector<std::string> all = gather_texts(group, lines);
  const std::string why = text(what, ": rank ", differs, " has ", first_difference(all[differs], all[0]));
  group.communicator().give_up(why);
  throw DistributedError(text("rank ", group.rank(), ": ", why));
}

}  // namespace weft::distributed
