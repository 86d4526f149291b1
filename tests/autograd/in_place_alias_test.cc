// Writes in place that reach a tensor by another path, through views, detached aliases, or under NoGrad: they are seen
// where its value is used, and a write that is refused changes nothing.
#include "tensor/dispatch/in_place.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class InPlaceAlias : public testing::NoLeaks {};

// ---- written by another path ----

TEST_F(InPlaceAlias, AWriteThroughADetachedViewMakesUsingTheBaseAnError) {
  const Tensor p = leaf({1, 2});
  const Tensor base = p * 1.0;
  base.detach()[0].fill_(5.0);
  const std::string text = testing::error_as<GradientError>([&] { (base * 2.0).sum().backward(); });
  EXPECT_SAYS(text, "an input of shape [2] has a history that does not give its values: `fill_` has since changed");
  EXPECT_SAYS(text, "or to a clone(), or go on from detach(), which has the new values and no history");
}

TEST_F(InPlaceAlias, BackwardFromAStaleTensorIsAnError) {
  const Tensor p = leaf({1});
  const Tensor base = p * 1.0;
  base.detach()[0].fill_(5.0);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { base.backward(); }),
              "`fill_` has since changed its memory unrecorded");
}

TEST_F(InPlaceAlias, AWriteThroughADetachedAliasIsSeen) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * 1.0;
  y.detach().fill_(5.0);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.sum(); }), "through an alias such as detach()");
}

TEST_F(InPlaceAlias, AWriteUnderNoGradToANonLeafIsSeen) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  {
    NoGrad guard;
    y.add_(1.0);
    EXPECT_EQ(numbers(y * 2.0), Numbers({4, 6}));  // reading it under NoGrad is fine
  }
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y * 2.0; }),
              "`add_` has since changed its memory unrecorded, under NoGrad");
  EXPECT_EQ(numbers(y.detach().clone()), Numbers({2, 3})) << "detach() is the way out";
}

TEST_F(InPlaceAlias, AViewOfWhatIsWrittenIsReadBeforeTheWrite) {
  const auto gradient = [](const std::function<void(Tensor&)>& write) {
    const Tensor p = leaf({1, 2, 3});
    Tensor x = p * 1.5;
    write(x);
    x.sum().backward();
    return numbers(p.grad());
  };
  EXPECT_EQ(gradient([](Tensor& x) { x += x.view({3}); }), Numbers({3, 3, 3}));
  EXPECT_EQ(gradient([](Tensor& x) { x -= x.slice(0); }), Numbers({0, 0, 0}));
  EXPECT_EQ(gradient([](Tensor& x) { x.copy_(x.view({3})); }), Numbers({1.5, 1.5, 1.5}));
  EXPECT_EQ(gradient([](Tensor& x) { x.view({3}) += x; }), Numbers({3, 3, 3}));
  EXPECT_EQ(gradient([](Tensor& x) { x.view({3}) += x.slice(0); }), Numbers({3, 3, 3}));
  EXPECT_EQ(gradient([](Tensor& x) {
              Tensor y = x.slice(0);
              y *= 2.0;
              x += y;
            }),
            Numbers({6, 6, 6}));
  EXPECT_EQ(gradient([](Tensor& x) { x += x.flip({0}); }), Numbers({3, 3, 3}));
  EXPECT_EQ(gradient([](Tensor& x) { x *= x.view({3}); }), Numbers({4.5, 9, 13.5}));
}

TEST_F(InPlaceAlias, AViewFollowsItsBaseWhicheverInputOfTheWriteItIs) {
  const Tensor p = leaf({1, 2}), a = leaf({3, 4});
  Tensor x = p * 2.0;
  const Tensor view = x.view({2});
  x.add_(1.0);
  x.addcmul_(a, view);
  EXPECT_EQ(numbers(x), Numbers({12, 25}));
  EXPECT_EQ(numbers(grad(x.sum(), p)), Numbers({8, 10}));
}

TEST_F(InPlaceAlias, AStaleTensorCannotBeWrittenEither) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  y.detach()[0].fill_(5.0);
  EXPECT_NE(error_of([&] { y.mul_(2.0); }), "");
  EXPECT_NE(error_of([&] { y[0].mul_(2.0); }), "");
}

TEST_F(InPlaceAlias, ARecordedWriteIntoAPlainTensorIsRefusedThroughAnotherAlias) {
  const Tensor p = leaf({1, 2});
  Tensor plain = zeros({2}, f64);
  const Tensor alias = plain.detach().view({2, 1});
  const Tensor row = plain.detach()[0];
  plain.add_(p);
  EXPECT_EQ(testing::error_as<GradientError>([&] { alias.sum(); }),
            "sum([2, 1] f64): an input of shape [2, 1] has no history, as from detach(), but `add_` has since recorded "
            "new values in its memory through another tensor; use that tensor, or detach() again for its values alone; "
            "a clone() before the write keeps the old ones");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { row + 1.0; }), "`add_` has since recorded new values");
  EXPECT_EQ(numbers(alias.detach() * 2.0), Numbers({2, 4})) << "what the message says is right";
  plain.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
}

TEST_F(InPlaceAlias, ARecordedWriteThroughADetachedViewOfAPlainTensorIsRefusedOnTheBase) {
  const Tensor p = leaf({1, 2});
  const Tensor plain = zeros({2, 2}, f64);
  plain.detach()[0].copy_(p);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { plain.sum(); }), "`copy_` has since recorded new values");
}

TEST_F(InPlaceAlias, AnUnrecordedWriteThroughAnAliasOfAPlainTensorIsFine) {
  const Tensor plain = zeros({2, 2}, f64);
  plain[0].fill_(1.0);
  plain.t()[1].add_(2.0);
  EXPECT_EQ(numbers(plain * 1.0), Numbers({1, 3, 0, 2}));
}

TEST_F(InPlaceAlias, APlainTensorThatWasSavedAndWrittenIsCaught) {
  const Tensor p = leaf({1, 2});
  Tensor constant = tensor({3.0, 4.0}, f64);
  const Tensor loss = (p * constant).sum();
  constant[0].fill_(9.0);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { loss.backward(); }), "`mul` needs its input 1");
}

TEST_F(InPlaceAlias, AWriteToACloneIsNobodysBusiness) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * p;
  y.clone().fill_(0.0);
  p.detach().clone().fill_(0.0);
  y.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({2, 4}));
}

// ---- refused ----

TEST_F(InPlaceAlias, AViewThatOverlapsItselfIsNotWritten) {
  Tensor wide = zeros({3}, f64).expand({2, 3}), windows = zeros({5}, f64).unfold(0, 3, 1);
  EXPECT_SAYS(error_of([&] { wide.fill_(1.0); }), "fill_ would write to a view that overlaps itself");
  EXPECT_SAYS(error_of([&] { windows += 1.0; }), "overlaps itself (strides [1, 1])");
  EXPECT_EQ(wide.sum().item<double>(), 0.0);
}

TEST_F(InPlaceAlias, PaddingIsNotWritten) {
  Tensor padded = ones({2}, f64).pad({{1, 1}});
  EXPECT_SAYS(error_of([&] { padded.fill_(1.0); }), "zero padding");
  EXPECT_EQ(numbers(padded), Numbers({0, 1, 1, 0}));
}

TEST_F(InPlaceAlias, ARefusedWriteChangesNeitherHistoryNorVersion) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  const uint64_t version = internal::storage(y).version();
  EXPECT_NE(error_of([&] { y.add_(ones({3}, f64)); }), "");
  EXPECT_NE(error_of([&] { y.copy_(ones({2, 2}, f64)); }), "");
  EXPECT_EQ(internal::storage(y).version(), version);
  y.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
}

}  // namespace
}  // namespace weft
