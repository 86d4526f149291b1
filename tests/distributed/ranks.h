// What tests on several ranks share.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "distributed/distributed.h"
#include "weft.h"

namespace weft::test {

/// The group of the whole program: MPI can be started once. The main function leaves it.
inline std::optional<distributed::Group> whole_group;
inline distributed::Group& group() {
  if (!whole_group) whole_group = distributed::init();
  return *whole_group;
}

}  // namespace weft::test
