// Traces of a Profiler, for chrome://tracing and ui.perfetto.dev.
#pragma once

#include <string>

#include "tensor/profiler.h"

namespace weft::io {

/// Writes the events of a profiler as JSON in Chrome's trace-event format ("Trace Event Format", Google): a complete
/// event (`"ph": "X"`) for each, with its time in microseconds, its process and thread, its category (op, layer,
/// backward, section) and as arguments the bytes of its results and the shapes of its inputs, where they were recorded.
/// Times are those of the machine's steady clock, so that the events of several processes on one machine fit together.
/// A file of this name is replaced at once when the trace is complete. IoError if writing fails.
void save_trace(const std::string& path, const Profiler& profiler);

}  // namespace weft::io
