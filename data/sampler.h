// The order examples are visited in, and the random keys they get: pure functions of one key per epoch.
#pragma once

#include <vector>

#include "tensor/core/random.h"

namespace weft::data {

/// The key of part `number` of what `key` names: the streams of different numbers, and of `key` itself, are
/// independent.
RandomKey split_key(RandomKey key, uint64_t number);

/// A random permutation of 0 .. count-1. Error where count < 0.
std::vector<int64_t> shuffled_order(RandomKey key, int64_t count);

}  // namespace weft::data
