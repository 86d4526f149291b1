// Sums of Jacobians and Hessians of several arguments: made by tests/golden/transforms.py with PyTorch 2.13.0. Not
// edited by hand.
#pragma once

#include "tests/golden.h"

// clang-format off
inline constexpr weft::testing::GoldenEntry kTransformsEntries[] = {
    {"jacobian.0.a", {-0.04493395826116725, -0.4400366460296361}},
    {"jacobian.0.b", {0.32947093025656937, 1.050360785295805}},
    {"jacobian.0.w", {1.4406618856087827, 0.8865799717426341}},
    {"jacobian.1.a", {1.9587178946291317, -0.1380315800725262}},
    {"jacobian.1.b", {0.0, 0.0}},
    {"jacobian.1.w", {4.25731200384341, -0.3247829996373689}},
    {"jacobian.2.a", {21.88036622487055, 10.902649764988784}},
    {"jacobian.2.b", {15.673110552549957, 11.216974158364483}},
    {"jacobian.2.w", {0.0, 0.0}},
    {"hessian.a.a", {1.2023012859796693, 1.5087081258181572}},
    {"hessian.a.b", {4.976150780928353, 1.6196596367617806}},
    {"hessian.a.w", {-5.4987820247831625, 1.5809024176212458}},
    {"hessian.b.a", {4.976150780928353, 2.3641069936689942}},
    {"hessian.b.b", {3.486567027253931, 0.17583788684383483}},
    {"hessian.b.w", {-3.3559119055371713, -2.2781160103451894}},
    {"hessian.w.a", {-5.498782024783164, 1.3019257313020516}},
    {"hessian.w.b", {-3.3559119055371713, -1.009836987820552}},
    {"hessian.w.w", {-2.7054070741788925, 0.3674165202873139}},
};
// clang-format on
inline const auto kTransforms = weft::testing::golden_values(kTransformsEntries);
