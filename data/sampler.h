// The order examples are visited in, and the random keys they get: pure functions of one key per epoch.
#pragma once

#include <vector>

#include "tensor/core/random.h"

namespace weft::data {

/// A key of its own for part `number` of what `key` names: the streams of different numbers, and of `key` itself, have
/// nothing to do with each other.
RandomKey split_key(RandomKey key, uint64_t number);

/// A random permutation of 0 .. count-1.
std::vector<int64_t> shuffled_order(RandomKey key, int64_t count);

}  // namespace weft::data
