#include "examples/ranks.h"

#include <cstdio>

namespace examples {

using namespace weft;

distributed::Group start_ranks(const Settings& settings, int argc, char** argv) {
  distributed::launch(settings.nproc, argc, argv);
  distributed::Group group = distributed::init({.threads = settings.threads});
  if (settings.batch_size % group.size() != 0)
    throw Error(text("a batch of ", settings.batch_size, " does not divide among ", group.size(),
                     " ranks; --batch-size says how many examples they take together"));
  if (group.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw IoError("/dev/null cannot be opened");
  return group;
}

Tensor mean_over(const distributed::Group& group, const Tensor& value) {
  Tensor mean = value.detach().clone();
  group.all_reduce(mean, distributed::ReduceOp::mean);
  return mean;
}

Tensor gathered(const distributed::Group& group, const Tensor& rows) {
  return group.all_gather(rows.detach()).flatten(0, 1);
}

bool interrupted(const distributed::Group& group) {
  if (group.size() == 1) return interrupted();
  Tensor pressed = full({1}, int64_t{interrupted()}, i64);
  group.all_reduce(pressed, distributed::ReduceOp::max);
  return pressed.item<int64_t>() != 0;
}

}  // namespace examples
