// Products of matrices through oneDNN.
#include <csignal>

#include "tensor/kernels/cpu/base/onednn_primitive.h"
#include "tensor/runtime/thread_object.h"

namespace weft::kernels::cpu::onednn {
namespace {

/// This thread's primitives of this file.
using Primitives = LruCache<PrimitiveKey, Prepared, PrimitiveKeyHash>;
Primitives& cache() {
  return weft::detail::thread_object<Primitives>([] { return Primitives(kMostPrimitives); });
}

/// The product of such matrices, plus a bias of one `row` where there is one. Empty where oneDNN's is slow and that is
/// not wanted.
Prepared product(const memory::desc& left, const memory::desc& right, const memory::desc* row, const memory::desc& out,
                 const dnnl::primitive_attr& attr, bool even_if_slow) {
  const dnnl::matmul::primitive_desc pd = row != nullptr
                                              ? dnnl::matmul::primitive_desc({left, right, *row, out}, attr, engine())
                                              : dnnl::matmul::primitive_desc({left, right, out}, attr, engine());
  if (!even_if_slow && is_slow(pd.impl_info_str())) return Prepared();
  std::vector<std::pair<int, memory::desc>> operands = {
      {DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, out}};
  if (row != nullptr) operands.emplace_back(DNNL_ARG_BIAS, *row);
  return Prepared(dnnl::matmul(pd), pd, operands);
}

/// Whether there is such a product; then c = a b + bias has been computed.
bool run(Prepared& prepared, const void* a, const void* b, const void* c, const void* bias) {
  if (!prepared) return false;
  if (bias != nullptr)
    prepared.run({a, b, c, bias});
  else
    prepared.run({a, b, c});
  return true;
}

/// For longer sums sgemm keeps a block of an operand on the heap, with the stack pointer at it: a signal's handler
/// would write its frame over whatever lies below.
constexpr int64_t kDepthOnStack = 84;

/// While alive, the thread takes no signals but those of its own errors, if `on`.
class BlockedSignals {
 public:
  explicit BlockedSignals(bool on) : on_(on) {
    static const sigset_t signals = [] {
      sigset_t all;
      sigfillset(&all);
      for (const int error : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, error);
      return all;
    }();
    if (on_) pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~BlockedSignals() {
    if (on_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  bool on_;
  sigset_t before_{};
};

}  // namespace

void sgemm(Matrix<const float> a, Matrix<const float> b, Matrix<float> c, bool accumulate) {
  const bool a_rows = a.column_stride == 1 && a.row_stride >= a.columns;
  const bool b_rows = b.column_stride == 1 && b.row_stride >= b.columns;
  const ThreadScope serial(1);
  const BlockedSignals blocked(a.columns > kDepthOnStack);
  const dnnl_status_t status =
      dnnl_sgemm(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', c.rows, c.columns, a.columns, 1.0f, a.data,
                 a_rows ? a.row_stride : a.column_stride, b.data, b_rows ? b.row_stride : b.column_stride,
                 accumulate ? 1.0f : 0.0f, c.data, c.row_stride);
  if (status != dnnl_success) throw Error(text("oneDNN's sgemm failed with status ", static_cast<int>(status)));
}

// Measured over 450 shapes at 1 and 2 threads: the primitive is up to 1.6 times faster where b is transposed (the
// weight of a linear layer), c is narrow, or the columns of a transposed a lie a power of two apart (sgemm's copies of
// them map to few cache sets). It is slower for single columns, few rows, short sums and large products. In the last
// case the difference is smaller than the extra pass that adds a bias after sgemm, so a biased product takes the
// primitive.
bool prefers_primitive(const Matrix<const float>& a, const Matrix<const float>& b, bool biased) {
  const bool a_rows = a.column_stride == 1, b_rows = b.column_stride == 1 && b.row_stride >= b.columns;
  if (b.columns == 1) return false;
  if (!a_rows) return b_rows && a.columns >= 512 && b.columns <= 512 && a.rows >= 1024 && a.column_stride % 512 == 0;
  if (b_rows) return a.rows >= 64 && b.columns <= 64;
  return a.rows >= 16 && a.columns >= 32 && (biased || a.rows < 1024 || b.columns < 1024);
}

bool biased_gemm(Matrix<const float> a, Matrix<const float> b, const float* bias, Matrix<float> c) {
  const ThreadScope scope(a, b);
  const PrimitiveKey key{{kBiasedGemm, scope.threads(), a.rows, a.columns, b.columns, a.row_stride, a.column_stride,
                          b.row_stride, b.column_stride, c.row_stride, c.column_stride, bias != nullptr}};
  Prepared& prepared = cache().find_or_make(key, [&] {
    return try_make<Prepared>([&] {
      const auto f32 = DataType::f32;
      const memory::desc left({a.rows, a.columns}, f32, {a.row_stride, a.column_stride});
      const memory::desc right({b.rows, b.columns}, f32, {b.row_stride, b.column_stride});
      const memory::desc out({c.rows, c.columns}, f32, {c.row_stride, c.column_stride});
      const memory::desc row({1, c.columns}, f32, {c.columns, 1});
      return product(left, right, bias != nullptr ? &row : nullptr, out, user_scratchpad(), false);
    });
  });
  return run(prepared, a.data, b.data, c.data, bias);
}

namespace {

/// c (bf16 or f32) = a b, or c += a b, + bias.
template <class Out>
bool bf16_product(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<Out> c, bool accumulate,
                  const BFloat16* bias) {
  constexpr bool kWide = std::is_same_v<Out, float>;
  if (!has_fast_bf16()) return false;
  // With AMX, oneDNN 2.6 sets up its tiles for sums of 63 wrongly: an illegal instruction, or wrong values.
  if (a.columns == 63 && has_amx()) return false;
  // oneDNN 2.6 multiplies the last of an odd number of terms by a zero where operands have gaps: infinities give NaN.
  const auto is_dense = [](const auto& m) {
    return m.column_stride == 1 ? m.row_stride == m.columns : m.row_stride == 1 && m.column_stride == m.rows;
  };
  if (a.columns % 2 != 0 && !(is_dense(a) && is_dense(b))) return false;
  const ThreadScope scope(a, b);
  const PrimitiveKey key{{kBf16Gemm, scope.threads(), a.rows, a.columns, b.columns, a.row_stride, a.column_stride,
                          b.row_stride, b.column_stride, c.row_stride, c.column_stride, accumulate, bias != nullptr,
                          kWide}};
  Prepared& prepared = cache().find_or_make(key, [&] {
    return try_make<Prepared>([&] {
      const auto bf = DataType::bf16;
      const memory::desc left({a.rows, a.columns}, bf, {a.row_stride, a.column_stride});
      const memory::desc right({b.rows, b.columns}, bf, {b.row_stride, b.column_stride});
      const memory::desc out({c.rows, c.columns}, kWide ? DataType::f32 : bf, {c.row_stride, c.column_stride});
      dnnl::primitive_attr attr = user_scratchpad();
      if (accumulate) {
        dnnl::post_ops sum;
        sum.append_sum(1.0f);
        attr.set_post_ops(sum);
      }
      const memory::desc row({1, c.columns}, bf, {c.columns, 1});
      return product(left, right, bias != nullptr ? &row : nullptr, out, attr, true);
    });
  });
  return run(prepared, a.data, b.data, c.data, bias);
}

}  // namespace

bool bf16_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<BFloat16> c, bool accumulate,
               const BFloat16* bias) {
  return bf16_product(a, b, c, accumulate, bias);
}

bool bf16_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<float> c) {
  return bf16_product(a, b, c, false, nullptr);
}

}  // namespace weft::kernels::cpu::onednn
