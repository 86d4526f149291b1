// Parameters as one vector, and back.
#include "nn/convert_parameters.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "autograd/leaf.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TEST(ConvertParameters, ThereAndBack) {
  const std::vector<Tensor> parameters = {parameter(tensor({{1.0, 2.0}, {3.0, 4.0}})), parameter(tensor({5.0}))};
  const Tensor vector = parameters_to_vector(parameters);
  EXPECT_EQ(vector.to_vector<double>(), std::vector<double>({1, 2, 3, 4, 5}));
  (vector * tensor({1.0, 1.0, 1.0, 1.0, 7.0})).sum().backward();
  EXPECT_EQ(parameters[1].grad().item(), 7);
  vector_to_parameters(vector * 2.0, parameters);
  EXPECT_EQ(parameters[0].to_vector<double>(), std::vector<double>({2, 4, 6, 8}));
  EXPECT_EQ(parameters[1].item(), 10);
  EXPECT_EQ(error_of([&] { vector_to_parameters(ones({4}), parameters); }),
            "vector_to_parameters([4] f32): the parameters have 5 elements together, the vector has shape [4]");
}

}  // namespace
}  // namespace weft::nn
