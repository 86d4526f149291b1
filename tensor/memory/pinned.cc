#include "tensor/memory/pinned.h"

#include <dlfcn.h>
#include <link.h>

namespace weft::detail {

void pin_library() noexcept {
  Dl_info info;
  link_map* library = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&pin_library), &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0)
    return;
  if (library == nullptr || library->l_name == nullptr || library->l_name[0] == '\0') return;  // the program itself
  // The handle is kept, so that the count of opens never falls to 0.
  (void)dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace weft::detail
