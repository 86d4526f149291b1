// What a call throws, as text.
#pragma once

#include <string>

#include "tensor/core/error.h"

namespace weft::testing {

/// The text of the weft::Error that `f` throws; empty where it throws none.
template <class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace weft::testing
