#include "distributed/texts.h"

#include <cstdint>

#include "distributed/rows.h"

namespace weft::distributed {

std::vector<std::string> gather_texts(const Group& group, const std::string& own) {
  const Tensor bytes = Tensor::from(std::vector<uint8_t>(own.begin(), own.end()));
  const std::vector<int64_t> lengths = rows_of_ranks(group, bytes);
  const std::vector<uint8_t> all = gather_rows(group, bytes, lengths).to_vector<uint8_t>();
  std::vector<std::string> out;
  auto begin = all.begin();
  for (const int64_t length : lengths) {
    out.emplace_back(begin, begin + length);
    begin += length;
  }
  return out;
}

}  // namespace weft::distributed
