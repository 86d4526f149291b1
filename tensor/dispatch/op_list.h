// The list of all ops, by the stem of the file in ops/ that describes them. The op codes, the rule table and the set of
// ops that test cases must cover are generated from it. An op that is not in the list does not link; an op without a
// gradient rule does not compile. Only six files include this header, so that adding an op recompiles little.
#pragma once

// clang-format off
#define WEFT_OP_LIST(X) \
  /* fill */              X(Full) X(Arange) X(Linspace) X(Eye) \
  /* copy */              X(Contiguous) X(Clone) X(Cast) X(ToDevice) X(Fill) X(CopyFrom) X(AddInto) X(Detach) \
                          X(ViewAdjoint) X(Lift) \
  /* view */              X(Reshape) X(Expand) X(Permute) X(Squeeze) X(SqueezeAll) X(Unsqueeze) X(Slice) X(Select) \
                          X(Shrink) X(Flip) X(Pad) X(Unfold) X(Diagonal) X(AsStrided) \
  /* binary */            X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Maximum) X(Minimum) X(ClampMin) X(ClampMax) \
                          X(AddScaled) X(AddScalar) X(RsubScalar) X(MulScalar) X(DivScalar) X(RdivScalar) X(PowScalar) \
                          X(RpowScalar) X(Remainder) X(Fmod) X(FloorDivide) X(TruncDivide) X(Atan2) X(Hypot) \
                          X(Logaddexp) X(Xlogy) X(Xlog1py) X(Zeta) X(Igamma) X(Igammac) X(Copysign) X(Nextafter) \
                          X(Fmax) X(Fmin) X(BitwiseAnd) X(BitwiseOr) X(BitwiseXor) X(BitwiseLeftShift) \
                          X(BitwiseRightShift) \
  /* unary */             X(Neg) X(Abs) X(Sign) X(Square) X(Sqrt) X(Rsqrt) X(Reciprocal) X(Exp) X(Log) X(Log1p) X(Sin) \
                          X(Cos) X(Tanh) X(Sigmoid) X(Relu) X(LeakyRelu) X(GeluOp) X(Silu) X(Softplus) X(Erf) \
                          X(Clip) X(Floor) X(Ceil) X(Round) X(Trunc) X(BitwiseNot) X(Expm1) X(Exp2) X(Log2) X(Log10) \
                          X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Asinh) X(Acosh) X(Atanh) X(Erfc) \
                          X(NanToNum) \
  /* special */           X(Erfinv) X(Frac) X(Lgamma) X(Digamma) X(I0) X(I1) X(I0e) X(I1e) X(BesselJ0) \
                          X(BesselJ1) X(BesselY0) X(BesselY1) X(ModifiedBesselK0) X(ModifiedBesselK1) X(Ndtr) \
                          X(LogNdtr) X(LogNdtrSlope) X(Ndtri) X(Erfcx) X(Entr) X(GammaDensity) X(Polygamma) \
                          X(SquaredDifference) X(LogisticLoss) X(Huber) \
  /* compare */           X(IsInf) X(SignBit) X(Eq) X(Ne) X(Lt) X(Le) X(Gt) X(Ge) X(LogicalAnd) X(LogicalOr) \
                          X(LogicalXor) X(EqScalar) X(NeScalar) X(LtScalar) X(LeScalar) X(GtScalar) X(GeScalar) \
                          X(LogicalNot) X(IsNan) X(IsFinite) X(Where) \
  /* blend */             X(Lerp) X(LerpBy) X(Addcmul) X(Addcdiv) \
  /* activation */        X(Mish) X(Hardswish) X(Hardsigmoid) X(Logsigmoid) X(Softsign) X(Elu) X(Hardtanh) \
                          X(Softshrink) X(Hardshrink) X(Threshold) X(Prelu) \
  /* activation_backward */ \
                          X(ReluBackward) X(SigmoidBackward) X(TanhBackward) X(SiluBackward) X(SoftplusBackward) \
                          X(LogsigmoidBackward) X(HardswishBackward) X(MishBackward) X(GeluBackward) X(EluBackward) \
                          X(PiecewiseBackward) \
  /* reduce */            X(Sum) X(NanSum) X(Prod) X(Max) X(Min) X(All) X(Any) X(Logsumexp) X(Norm) X(Var) \
  /* arg_reduce */        X(ExtremumWithIndices) X(Argmax) X(Argmin) \
  /* sort */              X(Sort) X(SortRows) X(Topk) X(Kthvalue) X(Median) \
  /* scan */              X(Cumsum) X(Cumprod) X(Logcumsumexp) X(CumulativeExtremum) X(LinearRecurrence) \
  /* search */            X(Searchsorted) \
  /* matmul */            X(Matmul) X(RoundedMatmul) X(Cdist) \
  /* linear */            X(Linear) \
  /* conv */              X(Conv) X(ConvBackwardData) X(ConvBackwardWeights) X(ConvScaled) X(ConvPrepack) \
  /* pool */              X(MaxPool2d) X(MaxPool2dBackward) X(MaxPool2dGather) X(AvgPool2d) X(AvgPool2dBackward) \
                          X(FractionalMaxPool) \
  /* resample */          X(Resample) \
  /* grid_sample */       X(GridSample) X(GridSampleBackward) \
  /* softmax */           X(Softmax) X(LogSoftmax) X(SoftmaxBackward) X(LogSoftmaxBackward) \
  /* cross_entropy */     X(CrossEntropy) X(CrossEntropyBackward) \
  /* dropout */           X(Dropout) \
  /* stochastic_cast */   X(StochasticCast) \
  /* index */             X(Gather) X(ScatterAdd) X(IndexSelect) X(IndexAdd) X(Embedding) X(EmbeddingBackward) \
                          X(OneHot) \
  /* embedding_bag */     X(EmbeddingBag) X(EmbeddingBagArgmax) \
  /* cat */               X(Cat) X(Roll) \
  /* pad_mode */          X(PadMode) X(PadModeBackward) \
  /* strided_scatter */   X(AsStridedScatter) \
  /* index_put */         X(FlatIndex) X(IndexCopy) X(IndexAccumulate) \
  /* scatter */           X(Scatter) X(ScatterSum) X(ScatterReduce) \
  /* segment */           X(SegmentSum) X(SegmentReduce) X(RepeatInterleave) \
  /* masked */            X(MaskedFill) X(MaskedSelect) X(MaskedScatter) X(Nonzero) X(Triangle) \
  /* layer_norm */        X(LayerNorm) X(LayerNormBackward) \
  /* batch_norm */        X(BatchNorm) X(BatchNormBackward) X(BatchNormInference) \
  /* batch_norm_pool */   X(BatchNormReluMaxPool2d) X(BatchNormReluMaxPool2dBackward) \
  /* attention */         X(Attention) X(AttentionBackward) \
  /* lu */                X(LuFactor) X(PivotOrder) X(LuSolve) X(Det) X(Slogdet) \
  /* triangular */        X(Cholesky) X(SolveTriangular) \
  /* qr */                X(Qr) X(Geqrf) \
  /* svd */               X(Svd) X(Pinv) \
  /* eig */               X(Eigh) X(Eig) \
  /* matrix_exp */        X(MatrixExp) \
  /* recurrent */         X(Recurrent) X(RecurrentBackward) \
  /* group_norm */        X(GroupNorm) X(GroupNormBackward) \
  /* ctc_loss */          X(CtcLoss) X(CtcLossBackward) \
  /* random */            X(RandomFill) X(Multinomial) X(Poisson) \
  /* optimizer_step */    X(SgdStep) X(AdamStep) X(RmspropStep) \
  /* adaptive_step */     X(AdagradStep) X(AdadeltaStep) X(AdamaxStep) X(NAdamStep) X(RAdamStep) X(LionStep)
// clang-format on

namespace weft {

#define WEFT_OP_COUNT(Op) +1
inline constexpr int kOpCount = 0 WEFT_OP_LIST(WEFT_OP_COUNT);
#undef WEFT_OP_COUNT

#define WEFT_OP_DECLARE(Op) struct Op;
namespace op {
WEFT_OP_LIST(WEFT_OP_DECLARE)
}
#undef WEFT_OP_DECLARE

}  // namespace weft
