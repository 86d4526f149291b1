// Text in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The lines with their columns two spaces apart. `alignment` has a letter for each column: `l` for left, `r` for
/// right. Lines have no spaces at their end. All lines have as many cells as `alignment` has letters.
std::string text_table(const std::vector<std::vector<std::string>>& lines, std::string_view alignment);

}  // namespace weft
