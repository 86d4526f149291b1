#include "distributed/texts.h"

#include <algorithm>
#include <cstdint>

#include "tensor/functions/fill.h"

namespace weft::distributed {

std::vector<std::string> gather_texts(const Group& group, const std::string& own) {
  const std::vector<int64_t> lengths =
      group.all_gather(full({1}, static_cast<int64_t>(own.size()), i64)).to_vector<int64_t>();
  const auto longest = static_cast<size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<uint8_t> padded(longest + 1, 0);
  std::copy(own.begin(), own.end(), padded.begin());
  const std::vector<uint8_t> all = group.all_gather(Tensor::from(padded)).to_vector<uint8_t>();
  std::vector<std::string> out;
  for (size_t rank = 0; rank < lengths.size(); ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * (longest + 1));
    out.emplace_back(begin, begin + lengths[rank]);
  }
  return out;
}

}  // namespace weft::distributed
