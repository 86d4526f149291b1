#include "nn/module/summary.h"

#include <algorithm>
#include <ostream>
#include <unordered_map>

#include "autograd/grad_mode.h"
#include "nn/module/mode_scope.h"
#include "tensor/core/text_table.h"
#include "tensor/dispatch/any_op.h"

namespace weft::nn {
namespace {

/// Products of a matrix product, of a convolution, of attention's two products (all keys, seen or not) and of the
/// states' part of a recurrent layer; 0 for any other op.
int64_t multiply_adds(const OpInfo& info, std::span<const Tensor* const> inputs, const Tensor& output) {
  if (info.name == "matmul" || info.name == "linear") return output.numel() * inputs[0]->size(-1);
  if (info.name == "attention") return (inputs[0]->numel() + output.numel()) * inputs[1]->size(-2);
  if (info.name == "recurrent") return inputs[0]->numel() * inputs[1]->size(-1);
  if (info.name == "conv" || info.name == "conv_backward_data") {
    const Tensor& weight = *inputs[1];  // conv_backward_data: a transposed convolution, whose every input is spread
    const Tensor& pixels = info.name == "conv" ? output : *inputs[0];
    return weight.size(0) == 0 ? 0 : pixels.numel() * (weight.numel() / weight.size(0));
  }
  return 0;
}

/// Fills the rows while the model runs.
class Recorder final : public Observer {
 public:
  explicit Recorder(std::vector<SummaryRow>& rows) : rows_(rows) {}
  void add(const Module& module, size_t row) { row_of_[module.identity()] = row; }

  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::layer) return;
    const auto found = row_of_.find(event.layer);
    running_.push_back(found != row_of_.end() ? found->second : innermost());
  }
  void end(const ObserverEvent& event) override {
    if (event.kind == ObserverEvent::Kind::layer) return end_of_layer(event);
    if (event.kind == ObserverEvent::Kind::op && !event.outputs.empty())
      rows_[innermost()].multiply_adds += multiply_adds(*event.info, event.inputs, event.outputs[0]);
  }

 private:
  void end_of_layer(const ObserverEvent& event) {
    running_.pop_back();
    const auto found = row_of_.find(event.layer);
    if (found == row_of_.end() || event.outputs.empty()) return;  // not registered in the model, or it threw
    rows_[found->second].ran = true;
    rows_[found->second].output_shape = event.outputs[0].shape();
  }
  size_t innermost() const { return running_.empty() ? 0 : running_.back(); }

  std::vector<SummaryRow>& rows_;
  std::unordered_map<const void*, size_t> row_of_;
  std::vector<size_t> running_;
};

/// Makes every layer run on its own while alive, as with hooks: a fused layer has no output that could be shown.
class Unfused {
 public:
  Unfused() { detail::count_forward_hooks(1); }
  ~Unfused() { detail::count_forward_hooks(-1); }
  Unfused(const Unfused&) = delete;
  Unfused& operator=(const Unfused&) = delete;
};

void count_parameters(const Module& model, Summary& out) {
  std::unordered_map<std::string, size_t> row_of;
  for (size_t i = 0; i < out.rows.size(); ++i) row_of[out.rows[i].name] = i;
  for (const NamedTensor& parameter : model.named_parameters()) {
    const size_t dot = parameter.name.rfind('.');
    const int64_t count = parameter.tensor.numel();
    out.rows[row_of.at(dot == std::string::npos ? "" : parameter.name.substr(0, dot))].parameters += count;
    out.parameters += count;
    out.trainable_parameters += parameter.tensor.requires_grad() ? count : 0;
  }
}

/// 1234567 as 1,234,567; nothing as a dash.
std::string grouped(int64_t number) {
  if (number == 0) return "-";
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// `  conv (Conv2d)`, indented by its depth.
std::string label(const SummaryRow& row) {
  if (row.name.empty()) return row.type;
  const auto depth = static_cast<size_t>(std::count(row.name.begin(), row.name.end(), '.')) + 1;
  return std::string(2 * depth, ' ') + row.name.substr(row.name.rfind('.') + 1) + " (" + row.type + ")";
}

}  // namespace

Summary detail::summarize(const Module& model, const std::function<void()>& run) {
  ErrorFrame frame("summary");
  NoGrad guard;
  Summary out;
  detail::ModeScope modes(model);
  std::vector<NamedModule>& modules = modes.modules();
  for (const NamedModule& entry : modules) out.rows.push_back({.name = entry.name, .type = entry.module.type_name()});
  count_parameters(model, out);
  {
    modules.front().module.eval();
    const Unfused unfused;
    Recorder recorder(out.rows);
    const ObserverScope scope(recorder);
    for (size_t i = 0; i < modules.size(); ++i) recorder.add(modules[i].module, i);
    run();
  }
  for (const SummaryRow& row : out.rows) out.multiply_adds += row.multiply_adds;
  return out;
}

std::string Summary::to_string() const {
  std::vector<std::vector<std::string>> lines = {{"layer", "output", "parameters", "multiply-adds"}};
  for (const SummaryRow& row : rows)
    lines.push_back({label(row), row.ran ? row.output_shape.to_string() : "-", grouped(row.parameters),
                     grouped(row.multiply_adds)});
  lines.push_back({"total", "", grouped(parameters), grouped(multiply_adds)});
  std::string out = text_table(lines, "llrr");
  if (trainable_parameters != parameters)
    out += text(grouped(parameters - trainable_parameters), " parameters are frozen\n");
  return out;
}

std::ostream& operator<<(std::ostream& out, const Summary& summary) { return out << summary.to_string(); }

}  // namespace weft::nn
