// How an example runs as several processes: `--nproc 4`, or under mpirun.
#pragma once

#include "distributed/distributed.h"
#include "examples/training.h"

namespace examples {

/// Starts settings.nproc ranks of this program (and does not return), unless there is one or mpirun started it already.
/// The group; of its ranks only the first prints from here on. Error where the batch does not divide among the ranks.
weft::distributed::Group start_ranks(const Settings& settings, int argc, char** argv);

/// Whether Ctrl-C was pressed (or SIGTERM came) on some rank: all leave the loop after the same batch.
bool interrupted(const weft::distributed::Group& group);

/// The mean over the ranks of a number of each: of losses of batches that are as large everywhere.
weft::Tensor mean_over(const weft::distributed::Group& group, const weft::Tensor& value);

/// (n, ...) of every rank, one after the other.
weft::Tensor gathered(const weft::distributed::Group& group, const weft::Tensor& rows);

}  // namespace examples
