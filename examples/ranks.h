// Runs an example as several processes: `--nproc 4`, or under mpirun.
#pragma once

#include "distributed/distributed.h"
#include "examples/training.h"

namespace examples {

/// Starts settings.nproc ranks of this program (and does not return), unless there is only one or mpirun already
/// started it. Returns the group; from then on only rank 0 prints. Error if the batch size is not divisible by the
/// number of ranks.
weft::distributed::Group start_ranks(const Settings& settings, int argc, char** argv);

/// Whether Ctrl-C was pressed (or SIGTERM received) on any rank. All ranks leave the loop after the same batch.
bool interrupted(const weft::distributed::Group& group);

/// The mean of `value` over the ranks, for losses of batches of equal size.
weft::Tensor mean_over(const weft::distributed::Group& group, const weft::Tensor& value);

/// (n, ...) -> (ranks n, ...): concatenates the rows of every rank.
weft::Tensor gathered(const weft::distributed::Group& group, const weft::Tensor& rows);

/// Saves `parts` and the progress (Progress or TextProgress) to `path`; rank 0 writes.
template <class AnyProgress>
void save(const weft::distributed::Group& group, const std::string& path, weft::io::CheckpointParts parts,
          const AnyProgress& progress) {
  auto fields = progress.fields();
  parts.fields = &fields;
  weft::distributed::save_checkpoint(group, path, parts);
}
/// Loads what save() saved.
template <class AnyProgress>
void resume(const std::string& path, weft::io::CheckpointParts parts, AnyProgress& progress) {
  std::map<std::string, std::string> fields;
  parts.fields = &fields;
  weft::io::load_checkpoint(path, parts);
  progress.restore(fields);
}

}  // namespace examples
