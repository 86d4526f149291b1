// What a call says that must fail.
#pragma once

#include <string>

#include "tensor/core/error.h"

namespace weft {

/// The text of the E that `f` throws; empty where it throws none.
template <class E = Error, class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace weft

/// In a test: `text` contains `part`.
#define EXPECT_SAYS(text, part) EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, text)
