#include "io/chart.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "io/file.h"
#include "tensor/core/error.h"

namespace weft::io {

namespace {

// Okabe and Ito's colors, which readers of any color vision tell apart.
constexpr std::array<const char*, 7> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                "#56B4E9", "#E69F00", "#000000"};
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 48;

/// Text for XML. Error if it is not valid UTF-8, which readers of XML refuse.
std::string escape(const std::string& text) {
  if (!detail::is_utf8(text)) throw Error(weft::text("the text ", detail::shown(text), " is not valid UTF-8"));
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ')
      out += c;
  }
  return out;
}

/// A number as text, in any locale with a point: by default with one digit after it.
std::string number(double value, std::chars_format format = std::chars_format::fixed, int digits = 1) {
  char buffer[400];  // the largest double has 309 digits before the point
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value, format, digits).ptr};
}

/// What an axis shows, in the units it is drawn in (logarithms on a logarithmic one).
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void finish() {
    if (low > high) low = 0, high = 1;
    if (low == high) {
      constexpr double kMost = std::numeric_limits<double>::max();
      const double margin = low == 0 ? 0.5 : 0.05 * std::fabs(low);
      low = std::max(low - margin, -kMost), high = std::min(high + margin, kMost);
    }
  }
  /// The factor that differences are computed with: halves, where the whole would overflow.
  double scale() const { return std::isinf(high - low) ? 0.5 : 1; }
  double part(double value) const {
    const double s = scale();
    return (value * s - low * s) / (high * s - low * s);
  }
};

/// About five values in the range, at multiples of 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const Range& range) {
  const double scale = range.scale(), rough = (range.high * scale - range.low * scale) / 5 / scale;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  const double first = std::ceil(range.low / step);
  constexpr int kMost = 10;  // also where a step is too small for the numbers around it
  std::vector<double> out;
  for (int i = 0; i < kMost; ++i) {
    const double tick = (first + i) * step;
    if (tick - 1e-9 * step > range.high) break;  // infinite ticks at the latest
    if (std::isfinite(tick)) out.push_back(tick);
  }
  return out;
}

/// Ticks as text: `digits` significant ones, and more where ticks lie close together.
std::vector<std::string> labels_of(const std::vector<double>& values, int digits) {
  constexpr int kExact = 17;
  double gap = std::numeric_limits<double>::infinity();
  for (size_t i = 1; i < values.size(); ++i) gap = std::min(gap, std::fabs(values[i] - values[i - 1]));
  for (;; ++digits) {
    std::vector<std::string> labels;
    bool good = true;
    for (const double value : values) {
      const std::string& label = labels.emplace_back(number(value, std::chars_format::general, digits));
      double shown = std::numeric_limits<double>::infinity();  // where it was rounded up beyond the largest double
      std::from_chars(label.data(), label.data() + label.size(), shown);
      good = good && std::fabs(shown - value) <= 0.01 * gap;
    }
    if (good || digits >= kExact) return labels;
  }
}

class Chart {
 public:
  Chart(const std::vector<ChartSeries>& series, const ChartOptions& options) : series_(series), options_(options) {
    for (const ChartSeries& one : series)
      for (size_t i = 0; i < one.y.size(); ++i)
        if (std::isfinite(x(one, i)) && std::isfinite(y(one, i))) {
          x_.include(x(one, i));
          y_.include(y(one, i));
        }
    x_.finish();
    y_.finish();
  }

  std::string draw() {
    out_ = text(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", options_.width, "\" height=\"", options_.height,
        "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    draw_axes();
    for (size_t i = 0; i < series_.size(); ++i) draw_series(series_[i], i);
    return out_ + "</svg>\n";
  }

 private:
  double x(const ChartSeries& one, size_t i) const { return one.x.empty() ? static_cast<double>(i) : one.x[i]; }
  double y(const ChartSeries& one, size_t i) const { return options_.log_y ? std::log10(one.y[i]) : one.y[i]; }
  double across(double value) const { return kLeft + x_.part(value) * (options_.width - kLeft - kRight); }
  double down(double value) const {
    return options_.height - kBottom - y_.part(value) * (options_.height - kTop - kBottom);
  }

  void line(double x0, double y0, double x1, double y1, const char* color) {
    out_ += "<line x1=\"" + number(x0) + "\" y1=\"" + number(y0) + "\" x2=\"" + number(x1) + "\" y2=\"" + number(y1) +
            "\" stroke=\"" + color + "\"/>\n";
  }
  void label(double px, double py, const std::string& words, const char* extra) {
    out_ += "<text x=\"" + number(px) + "\" y=\"" + number(py) + "\" " + extra + ">" + escape(words) + "</text>\n";
  }
  void draw_axes() {
    const double bottom = options_.height - kBottom, right = options_.width - kRight;
    const std::vector<double> columns = ticks(x_);
    std::vector<double> rows = ticks(y_);
    if (options_.log_y)  // no tick beyond the largest double
      std::erase_if(rows, [](double value) { return std::isinf(std::pow(10.0, value)); });
    const std::vector<std::string> column_labels = labels_of(columns, 6);
    for (size_t i = 0; i < columns.size(); ++i) {
      line(across(columns[i]), kTop, across(columns[i]), bottom, "#dddddd");
      label(across(columns[i]), bottom + 16, column_labels[i], "text-anchor=\"middle\"");
    }
    std::vector<double> shown = rows;
    if (options_.log_y)
      for (double& value : shown) value = std::pow(10.0, value);
    const std::vector<std::string> row_labels = labels_of(shown, 4);
    for (size_t i = 0; i < rows.size(); ++i) {
      line(kLeft, down(rows[i]), right, down(rows[i]), "#dddddd");
      label(kLeft - 6, down(rows[i]) + 4, row_labels[i], "text-anchor=\"end\"");
    }
    line(kLeft, bottom, right, bottom, "black");
    line(kLeft, kTop, kLeft, bottom, "black");
    label(options_.width / 2.0, 20, options_.title, "text-anchor=\"middle\" font-size=\"15\"");
    label((kLeft + right) / 2, options_.height - 12, options_.x_label, "text-anchor=\"middle\"");
    const std::string turned =
        "text-anchor=\"middle\" transform=\"rotate(-90 14 " + number((kTop + bottom) / 2) + ")\"";
    label(14, (kTop + bottom) / 2, options_.y_label, turned.c_str());
  }
  void draw_series(const ChartSeries& one, size_t index) {
    const char* color = kColors[index % kColors.size()];
    std::string points;
    const auto flush = [&] {
      if (!points.empty())
        out_ += "<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"" + std::string(color) + "\" points=\"" +
                points + "\"/>\n";
      points.clear();
    };
    for (size_t i = 0; i < one.y.size(); ++i) {
      if (std::isfinite(x(one, i)) && std::isfinite(y(one, i)))
        points += number(across(x(one, i))) + "," + number(down(y(one, i))) + " ";
      else
        flush();
    }
    flush();
    const double py = kTop + 14 + 16 * static_cast<double>(index), px = options_.width - kRight - 130;
    line(px, py - 4, px + 18, py - 4, color);
    label(px + 24, py, one.name, "");
  }

  const std::vector<ChartSeries>& series_;
  const ChartOptions& options_;
  Range x_, y_;
  std::string out_;
};

}  // namespace

void save_line_chart(const std::string& path, const std::vector<ChartSeries>& series, const ChartOptions& options) {
  for (const ChartSeries& one : series)
    if (!one.x.empty() && one.x.size() != one.y.size())
      throw Error(text("save_line_chart: series ", detail::shown(one.name), " has ", one.x.size(), " x and ",
                       one.y.size(), " y"));
  if (options.width < 1 || options.height < 1)
    throw Error(
        text("save_line_chart: width and height must be 1 or more, not ", options.width, " and ", options.height));
  write_file(path, Chart(series, options).draw());
}

}  // namespace weft::io
