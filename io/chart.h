// Line charts as SVG: learning curves that any browser shows.
#pragma once

#include <string>
#include <vector>

namespace weft::io {

/// One line; `x` is 0, 1, 2, ... where it is empty. A value that is not finite leaves a gap.
struct ChartSeries {
  std::string name;
  std::vector<double> y;
  std::vector<double> x = {};
};

struct ChartOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_y = false;  // decades; values that are not positive leave gaps
  int width = 720;
  int height = 440;
};

/// Writes a chart, crash-safe (see AtomicFile). Errors: Error where x and y of a series differ in length or the
/// chart has no size; IoError.
void save_line_chart(const std::string& path, const std::vector<ChartSeries>& series, const ChartOptions& options = {});

}  // namespace weft::io
