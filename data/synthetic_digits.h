// Handwritten-looking digits that the program draws itself: training data that needs no file and no network.
#pragma once

#include "data/tensor_dataset.h"

namespace weft::data {

struct DigitsOptions {
  int64_t count = 1000;
  uint64_t seed = 0;
  double distortion = 1;  // 0: clean glyphs in one style; 1: as different as handwriting
};

/// Digits drawn as strokes with random shape, width, slant, rotation, size, place, ink and noise: images f32 (count, 1,
/// 28, 28) in [0, 1], labels i64, each of the ten once in every ten examples from the start (so that the first batches
/// of a model are balanced). Example i depends on the seed and on i alone. Error where count < 0.
///
/// How hard they are, with 8,000 to train and 2,000 to test: a linear classifier reaches about 94 %, a multi-layer
/// perceptron of 128 units on 4,000 of them about 93 %, two convolutions with batch norm and pooling above 99 %.
TensorDataset<2> synthetic_digits(const DigitsOptions& options = {});

}  // namespace weft::data
