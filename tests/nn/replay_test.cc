// A forward pass is recorded by an observer and replayed through the erased table alone (OpInfo: view, infer, run):
// every result has the same bits.
#include <gtest/gtest.h>

#include <deque>

#include "nn/nn.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

/// Ops as data: which values each reads, what it gave.
class Recording final : public Observer {
 public:
  // Inputs are looked at before the op runs: it may write over them.
  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op) return;
    begun_.clear();
    for (const Tensor* x : event.inputs) begun_.push_back(x->defined() ? value_of(*x) : kAbsent);
  }
  void end(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op) return;
    Step step{AnyOp(*event.info, event.op), begun_, {}, {}};
    for (const Tensor& x : event.outputs) {
      step.outputs.push_back(values_.size());
      values_.push_back({x, Tensor()});
      step.expected.push_back(clone(x.detach()));
    }
    steps_.push_back(std::move(step));
  }

  size_t size() const { return steps_.size(); }

  /// Runs every step again on replayed values, and compares.
  void replay() const {
    std::vector<Tensor> replayed(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) replayed[i] = values_[i].constant;
    for (const Step& step : steps_) {
      const std::vector<Tensor> outputs = run(step, replayed);
      for (size_t o = 0; o < outputs.size(); ++o) {
        replayed[step.outputs[o]] = outputs[o];
        ASSERT_EQ(bits(outputs[o]), bits(step.expected[o])) << step.op.to_string();
      }
    }
  }

 private:
  static constexpr size_t kAbsent = static_cast<size_t>(-1);
  struct Step {
    AnyOp op;
    std::vector<size_t> inputs, outputs;
    std::vector<Tensor> expected;
  };
  struct Value {
    Tensor seen;      // kept alive, so that its memory is not handed out again
    Tensor constant;  // of what no step made
  };

  /// The newest value that is this tensor; a constant where no step made it.
  size_t value_of(const Tensor& x) {
    for (size_t i = values_.size(); i-- > 0;) {
      const Tensor& seen = values_[i].seen;
      if (seen.shares_storage(x) && seen.layout() == x.layout() && seen.dtype() == x.dtype()) return i;
    }
    values_.push_back({x, clone(x.detach())});
    return values_.size() - 1;
  }

  static std::vector<Tensor> run(const Step& step, const std::vector<Tensor>& values) {
    const OpInfo& info = step.op.info();
    if (info.view != nullptr) {
      const Tensor& x = values[step.inputs[0]];
      return {internal::make_tensor(internal::storage_ptr(x), *info.view(step.op.get(), x.layout()), x.dtype())};
    }
    std::vector<Operand> in, out;
    for (size_t i : step.inputs) in.push_back(i == kAbsent ? Operand{} : operand(values[i]));
    std::vector<Spec> specs(static_cast<size_t>(info.outputs));
    info.infer(step.op.get(), in, specs.data());
    std::vector<Tensor> outputs;
    for (const Spec& spec : specs) outputs.push_back(dispatch::allocate(spec));
    for (const Tensor& x : outputs) out.push_back(operand(x));
    info.run[0](step.op.get(), in, out);
    return outputs;
  }

  static std::vector<uint64_t> bits(const Tensor& x) {
    std::vector<uint64_t> out;
    for (double value : x.to_vector<double>()) out.push_back(std::bit_cast<uint64_t>(value));
    return out;
  }

  std::deque<Value> values_;
  std::vector<Step> steps_;
  std::vector<size_t> begun_;
};

/// Records `forward` (which ends in a loss), replays it, and says how many ops it had.
template <class Forward> size_t record_and_replay(const Forward& forward) {
  Recording recording;
  {
    const ObserverScope scope(recording);
    (void)forward();
  }
  recording.replay();
  return recording.size();
}

TEST(Replay, AnMlp) {
  Sequential model(Flatten(), Linear(64, 32), ReLU(), Dropout(0.2), Linear(32, 10));
  const Tensor x = rand({8, 1, 8, 8}), labels = randint(0, 10, {8});
  EXPECT_GE(record_and_replay([&] { return cross_entropy(model(x), labels); }), 5u);
}

TEST(Replay, ACnn) {
  Sequential model(Conv2d({.in_channels = 1, .out_channels = 8, .kernel_size = 3, .padding = 1}), BatchNorm2d(8),
                   ReLU(), MaxPool2d(2), BasicBlock({.in_channels = 8, .out_channels = 16, .stride = 2}), Flatten(),
                   Linear(16 * 4 * 4, 10));
  const Tensor x = rand({4, 1, 16, 16}), labels = randint(0, 10, {4});
  EXPECT_GE(record_and_replay([&] { return cross_entropy(model(x), labels); }), 10u);
}

TEST(Replay, ASmallGpt) {
  Embedding tokens(50, 32), positions(16, 32);
  TransformerEncoderLayer block({.d_model = 32, .nhead = 4, .dim_feedforward = 64, .norm_first = true});
  LayerNorm norm(LayerNormOptions{.normalized_shape = {32}});
  Linear head(32, 50);
  const Tensor text = randint(0, 50, {4, 16}), next = randint(0, 50, {64});
  EXPECT_GE(record_and_replay([&] {
              const Tensor x = block.forward(tokens(text) + positions(arange(16)), {.causal = true});
              return cross_entropy(head(norm(x)).view({64, 50}), next);
            }),
            20u);
}

}  // namespace
}  // namespace weft::nn
