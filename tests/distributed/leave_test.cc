// What the group leaves behind in an MPI that the program itself begins and ends.
#include <array>

#include "distributed/communicator.h"
#include "distributed/mpi/launcher.h"
#include "distributed/node/clock.h"
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

TEST(Leave, NoReceiveWaitsWhereTheProgramEndsMpi) {
  if (distributed::launched_by().empty()) GTEST_SKIP() << "one process";
  const distributed::MpiLibrary& mpi = distributed::MpiLibrary::open();
  int provided = 0;
  mpi.init_thread(nullptr, nullptr, mpi.thread_serialized, &provided);
  std::optional<distributed::Group> ended = distributed::init();
  const auto rank = static_cast<int>(ended->rank()), size = static_cast<int>(ended->size());
  const distributed::MpiHandle comm = ended->communicator().comm();
  ended.reset();
  // A message like a notice of failure, around the ring: a receive that still waited would take it.
  constexpr int kTag = 1;
  std::array<char, 1000> sent{}, received{};
  std::array<distributed::MpiHandle, 2> requests = {mpi.request_null, mpi.request_null};
  const auto bytes = static_cast<int>(sent.size());
  mpi.irecv(received.data(), bytes, mpi.byte, (rank + size - 1) % size, kTag, comm, requests.data());
  mpi.isend(sent.data(), bytes, mpi.byte, (rank + 1) % size, kTag, comm, &requests[1]);
  int arrived = 0;
  for (const double start = distributed::seconds_now(); arrived == 0 && distributed::seconds_now() < start + 5;)
    mpi.test(requests.data(), &arrived, mpi.status_ignore);
  EXPECT_NE(arrived, 0);
  if (arrived == 0) mpi.cancel(requests.data()), mpi.wait(requests.data(), mpi.status_ignore);
  mpi.wait(&requests[1], mpi.status_ignore);
  mpi.barrier(comm);
  mpi.finalize();
}

}  // namespace
}  // namespace weft::test
