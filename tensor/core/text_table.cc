#include "tensor/core/text_table.h"

#include <algorithm>

namespace weft {

std::string text_table(const std::vector<std::vector<std::string>>& lines, std::string_view alignment) {
  std::vector<size_t> widths(alignment.size());
  for (const std::vector<std::string>& line : lines)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - line[i].size(), ' ');
      out += alignment[i] == 'l' ? line[i] + space : space + line[i];
      out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace weft
