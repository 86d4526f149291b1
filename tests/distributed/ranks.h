// What tests on several ranks share.
#pragma once

#include <gtest/gtest.h>

#include "distributed/distributed.h"
#include "weft.h"

namespace weft::test {

/// The group of the whole program: MPI can be started once.
inline distributed::Group& group() {
  static distributed::Group* group = new distributed::Group(distributed::init());
  return *group;
}

}  // namespace weft::test
