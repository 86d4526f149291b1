// What a program and the library must agree on, which the names of functions do not tell: a program that differs does
// not link, where it would crash.
#pragma once

#if __cplusplus < 202002L
#error "weft needs C++20: compile with -std=c++20 or newer"
#endif

namespace weft::internal {

// _GLIBCXX_DEBUG changes the layout of the standard containers. (_GLIBCXX_ASSERTIONS does not.)
#ifdef _GLIBCXX_DEBUG
#define WEFT_LIBRARY_ABI library_built_with_GLIBCXX_DEBUG
#else
#define WEFT_LIBRARY_ABI library_built_without_GLIBCXX_DEBUG
#endif

extern const char WEFT_LIBRARY_ABI;
[[gnu::used, gnu::retain]] static const char* const library_abi = &WEFT_LIBRARY_ABI;

}  // namespace weft::internal
