// Keeps the shared library that weft is linked into from being unloaded.
#pragma once

namespace weft::detail {

/// If this code is in a shared library: dlclose() leaves it loaded from now on. Threads (OpenMP's among them) that run
/// its code and destructors of thread-local objects outlive dlclose(), and each load would allocate a cache of memory
/// and keys of thread-local objects anew.
void pin_library() noexcept;

}  // namespace weft::detail
