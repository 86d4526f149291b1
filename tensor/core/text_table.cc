#include "tensor/core/text_table.h"

#include <algorithm>

namespace weft {
namespace {

/// The number of characters of UTF-8 text: of bytes that do not continue one.
size_t width_of(const std::string& cell) {
  return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& lines, std::string_view alignment) {
  std::vector<size_t> widths(alignment.size());
  for (const std::vector<std::string>& line : lines)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - width_of(line[i]), ' ');
      out += alignment[i] == 'l' ? line[i] + space : space + line[i];
      out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace weft
