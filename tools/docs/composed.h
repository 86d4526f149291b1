// Which ops public functions are composed of, found by running them.
#pragma once

namespace weft {

/// Prints a table: functions that are no op, and the ops that one call of each runs.
void print_composed();

}  // namespace weft
