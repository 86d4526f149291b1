#include "distributed/cores.h"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/mpi/launcher.h"
#include "tensor/core/error.h"
#include "tensor/runtime/cpu_quota.h"
#include "tensor/runtime/log.h"
#include "tensor/runtime/threads.h"

namespace weft::distributed {
namespace {

struct Cores {
  int32_t machine;  // the first of its ranks
  cpu_set_t mask;
};

cpu_set_t own_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

bool keeps_its_count(int chosen) { return chosen == 0 && internal::is_count_chosen(); }

void warn_if_bound(int used) {
  const int cores = cores_before_binding();
  if (used < std::min(cores, weft::detail::cpu_quota().value_or(cores)))
    log_warn(text("mpirun bound the ranks of this machine to ", used, " of its ", cores,
                  " cores; with --bind-to none they use all"));
}

}  // namespace

void warn_of_few_cores(int chosen) {
  if (keeps_its_count(chosen)) return;
  const cpu_set_t mask = own_mask();
  warn_if_bound(CPU_COUNT(&mask));
}

void divide_cores(Communicator& group, int chosen) {
  Cores own{.machine = group.node().slot(0).rank, .mask = own_mask()};
  std::vector<Cores> all(static_cast<size_t>(group.size()));
  Collective gather = all_gather_of(group.rank_in_group(), reinterpret_cast<const std::byte*>(&own),
                                    reinterpret_cast<std::byte*>(all.data()), sizeof own);
  gather.signature = Signature::of(Call::all_gather, {sizeof own}, DType::u8);
  group.run(std::move(gather));
  if (keeps_its_count(chosen)) return;
  // A launcher may have bound each rank to cores of its own, or let all have all.
  int sum = 0;
  cpu_set_t together;
  CPU_ZERO(&together);
  for (const Cores& rank : all) {
    if (rank.machine != own.machine) continue;
    sum += CPU_COUNT(&rank.mask);
    CPU_OR(&together, &together, &rank.mask);
  }
  const int used = CPU_COUNT(&together), allowed = std::min(used, weft::detail::cpu_quota().value_or(used));
  if (group.local_rank() == 0) warn_if_bound(used);
  set_num_threads(chosen > 0 ? chosen : std::max(1, CPU_COUNT(&own.mask) * allowed / std::max(sum, 1)));
}

}  // namespace weft::distributed
