// Line charts as SVG files, such as learning curves.
#pragma once

#include <string>
#include <vector>

namespace weft::io {

/// One line. An empty `x` means 0, 1, 2, ... A value that is not finite leaves a gap in the line.
struct ChartSeries {
  std::string name;
  std::vector<double> y;
  std::vector<double> x = {};
};

struct ChartOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_y = false;  // logarithmic y axis; values <= 0 leave gaps
  int width = 720;
  int height = 440;
};

/// Writes a chart. A file of this name is replaced at once when the chart is complete. Error if x and y of a series
/// differ in length, the chart size is not positive, or a text is not valid UTF-8; IoError if writing fails.
void save_line_chart(const std::string& path, const std::vector<ChartSeries>& series, const ChartOptions& options = {});

}  // namespace weft::io
