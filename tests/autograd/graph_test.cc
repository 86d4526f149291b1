// Looking at graphs, and anomaly mode.
#include <limits>
#include <memory>

#include "tests/autograd/checks.h"

namespace weft {
namespace {

class GraphDump : public testing::NoLeaks {};
class Anomaly : public testing::NoLeaks {};

TEST_F(GraphDump, OneLinePerOpNewestFirst) {
  Tensor w = parameter(ones({2, 3}));
  w.set_name("fc.weight");
  const Tensor loss = (w * w).sum(1);
  EXPECT_EQ(print_graph(loss),
            "%2 = sum(axes=[1], keepdim=false) <- %1  : [2] f32\n"
            "%1 = mul() <- %0 %0  : [2, 3] f32  (keeps 48 bytes)\n"
            "%0 = fc.weight  : [2, 3] f32\n");
}

TEST_F(GraphDump, InputsWithoutGradientAreDots) {
  const Tensor w = parameter(ones({2}));
  EXPECT_SAYS(print_graph(w * ones({2})), "<- %0 .");
}

TEST_F(GraphDump, WithoutHistoryThereIsNothing) {
  EXPECT_EQ(print_graph(ones({2})), "");
  EXPECT_EQ(graph_to_dot(ones({2})), "digraph weft {\n  rankdir=TB;\n}\n");
}

TEST_F(GraphDump, DotShowsParametersAsBoxesAndEscapesQuotes) {
  Tensor w = parameter(ones({2}));
  w.set_name("a \"quoted\" \\name\nof two lines");
  const std::string dot = graph_to_dot(w * 2.0);
  EXPECT_SAYS(dot, "[label=\"a \\\"quoted\\\" \\\\name of two lines\\n[2] f32\", shape=box];");
  EXPECT_SAYS(dot, "shape=ellipse");
  EXPECT_SAYS(dot, "[label=\"[2]\"];");
  EXPECT_EQ(dot.find("digraph weft {"), 0u);
}

TEST_F(GraphDump, FrozenParametersAreRed) {
  Tensor w = parameter(ones({2}));
  const Tensor y = w * 2.0;
  w.requires_grad_(false);
  EXPECT_SAYS(graph_to_dot(y), "shape=box, color=red");
}

TEST_F(GraphDump, ALongChainIsNoRecursion) {
  Tensor y = parameter(ones({}));
  for (int i = 0; i < 50000; ++i) y = y + 1.0;
  EXPECT_GT(print_graph(y).size(), 1000000u);
}

TEST_F(Anomaly, NamesTheOpThatMadeANaNInForward) {
  const Tensor x = tensor({-1.0, 4.0}, f64);
  AnomalyMode mode;
  const std::string text = testing::error_as<GradientError>([&] { sqrt(x); });
  EXPECT_SAYS(text, "`sqrt");
  EXPECT_SAYS(text, "made a NaN or Inf in a result of shape [2]");
  EXPECT_NE(error_of([&] { x / zeros({2}, f64); }), "");
  EXPECT_EQ(error_of([&] { exp(x) + 1.0; }), "");
}

TEST_F(Anomaly, NamesTheOpThatMadeAnInfInBackward) {
  const Tensor x = parameter(tensor({0.0, 4.0}, f64));
  AnomalyMode mode;
  const Tensor y = sqrt(x);
  const std::string text = testing::error_as<GradientError>([&] { y.sum().backward(); });
  EXPECT_SAYS(text, "NaN or Inf");
  EXPECT_FALSE(x.grad().defined());
}

struct BadGradient : autograd::Function<BadGradient> {
  static Tensor forward(autograd::Context&, const Tensor& x) { return x * 2.0; }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor& g) {
    return {full(g.shape(), std::numeric_limits<double>::quiet_NaN(), g.dtype())};
  }
};

TEST_F(Anomaly, NamesAFunctionOfTheUser) {
  const Tensor x = parameter(ones({1}, f64));
  AnomalyMode mode;
  const Tensor y = BadGradient::apply(x);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.backward(); }), "NaN or Inf");
}

TEST_F(Anomaly, EndsWithItsScopeAndNests) {
  const Tensor x = tensor({-1.0}, f64);
  {
    AnomalyMode outer;
    { AnomalyMode inner; }
    EXPECT_NE(error_of([&] { sqrt(x); }), "");
  }
  EXPECT_EQ(error_of([&] { sqrt(x); }), "");
  EXPECT_EQ(internal::modes().observer, nullptr) << "off costs nothing";
}

TEST_F(Anomaly, ScopesMayEndInAnyOrder) {
  const Tensor x = parameter(zeros({1}, f64));
  auto first = std::make_unique<AnomalyMode>(), second = std::make_unique<AnomalyMode>();
  first.reset();
  EXPECT_NE(error_of([&] { sqrt(x.detach() - 1.0); }), "");
  EXPECT_NE(error_of([&] { sqrt(x).backward(); }), "");
  second.reset();
  EXPECT_EQ(error_of([&] { sqrt(x).backward(); }), "");
}

TEST_F(Anomaly, IntegersAndViewsAreLeftAlone) {
  const Tensor x = tensor({std::numeric_limits<double>::infinity(), 1.0}, f64);
  AnomalyMode mode;
  EXPECT_EQ(error_of([&] { (void)x.view({2, 1}); }), "");
  EXPECT_EQ(error_of([&] { (void)(tensor({1, 2}) + 1); }), "");
}

}  // namespace
}  // namespace weft
