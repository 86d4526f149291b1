// The loops of element-wise kernels: out[i] = f(a[i], b[i], ...) over operands of one shape and any strides.
//
// `elementwise<Out, In...>(grain, f, out, in...)` is what a kernel calls. It goes through `strided_loop`, compiled
// once, which splits the work over threads. Operands that are all row-major are one row. Of others it drops axes of
// size 1, orders the rest by the first operand's strides, merges axes that are one in memory (so tensors that share
// another dense order are one row as well), and hands two axes at a time to `loop_rows`, which has loops for unit
// strides, for one broadcast value of two, and for everything else. bf16 and f16 are computed in float: widened in
// blocks, or in registers if the function takes few instructions (half_registers.h).
//
// Where a thread's share begins depends only on fixed chunk sizes, and every element is computed by the same expression
// wherever it lies, so results have the same bits for any number of threads.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/loops/half_registers.h"
#include "tensor/kernels/cpu/loops/pack_rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Elements a thread should at least get: one load and one instruction each; vectorized math; a library call.
inline constexpr int64_t kCheapGrain = 32768;
inline constexpr int64_t kMathGrain = 8192;
inline constexpr int64_t kSlowGrain = 2048;

/// Operands of one loop.
inline constexpr int kMaxLoopOperands = 6;
/// Threads split flat loops at multiples of this.
inline constexpr int64_t kLoopChunk = 4096;
/// Elements converted or gathered at a time.
inline constexpr int64_t kLoopBlock = 256;

/// Works on `rows` x `columns` elements. pointers[k] is operand k's first element; step[k] and row_step[k] are the
/// bytes from one column and one row to the next.
using InnerLoop = void (*)(const void* context, char* const* pointers, const int64_t* step, const int64_t* row_step,
                           int64_t columns, int64_t rows);

/// Calls `inner` so that every element of `count` operands of one shape is met once. The first operand decides the
/// order. `grain` is the least number of elements for a thread; 0 keeps the loop on this thread, outer axes in order.
/// Operands whose bit is set in `readable` are only read: `inner` may get a transposed copy of a tile of them.
void strided_loop(const Operand* operands, int count, int64_t grain, InnerLoop inner, const void* context,
                  uint32_t readable = 0);

/// Marks a functor whose floats and doubles come a register at a time: f(simd::Vec<float>...). Everything else it gets
/// one by one.
template <class F> struct OnRegisters : F { template <class T> static constexpr bool kOnRegisters = true; };
template <class F> OnRegisters<F> on_registers(F f) { return {f}; }

/// Marks a functor of so few instructions that 16-bit floats take longer to convert (half_registers.h).
template <class F> struct OfFewInstructions : F { static constexpr bool kFewInstructions = true; };
template <class F> OfFewInstructions<F> few_instructions(F f) { return {f}; }

namespace detail {

/// Whether the values are converted in registers: those of one 16-bit type, for a functor of few instructions.
template <class F, class Out, class... In> constexpr bool converts_in_registers() {
  constexpr bool one_half = kConvertsInRegisters && is_half<Out> && (std::is_same_v<In, Out> && ...);
  return one_half && requires { F::kFewInstructions; };
}

template <class F, class Out, class... C> constexpr bool takes_registers() {
  constexpr bool one_type = std::is_floating_point_v<Out> && (std::is_same_v<C, Out> && ...);
  return one_type && requires { requires F::template kOnRegisters<Out>; };
}

/// Up to kLoopBlock values of one input, contiguous and in the type the kernel computes in.
template <class T> class InputBlock {
 public:
  InputBlock() {}  // without it a tuple of blocks fills them with zeros, as arrays of 16-bit floats do
  const Compute<T>* load(const char* from, int64_t step, int64_t count) {
    if (step == 0) return repeat(from, count);
    if (step != sizeof(T)) {
      gather_elements<T>(from, step, elements_, count);
      from = elements_;
    }
    const T* dense = reinterpret_cast<const T*>(from);
    if constexpr (is_half<T>) {
      widen(dense, values_, count);
      return values_;
    } else {
      return dense;
    }
  }
  /// The same as they are stored. Each block of the loop has the same `step`.
  const T* stored(const char* from, int64_t step, int64_t count) {
    if (step == sizeof(T)) return reinterpret_cast<const T*>(from);
    T* const elements = reinterpret_cast<T*>(elements_);
    if (step != 0) {
      gather_elements<T>(from, step, elements, count);
    } else if (from != stored_) {
      stored_ = from;
      const T value = *reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < kLoopBlock; ++i) elements[i] = value;
    }
    return elements;
  }
  /// Several short rows as one block. All blocks share a row that is repeated.
  const Compute<T>* load_rows(const char* from, int64_t step, int64_t row_step, int64_t columns, int64_t rows) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    if (step == kSize && row_step == columns * kSize) return load(from, step, columns * rows);
    if (row_step == 0 && from == repeated_ && columns * rows <= repeats_) return values();
    if (row_step == 0) repeated_ = from, repeats_ = columns * rows;
    constexpr int64_t kPacked = 8;
    if (step == 0 && columns > kPacked) {
      for (int64_t row = 0; row < rows; ++row, from += row_step) fill(values() + row * columns, from, columns);
      return values();
    }
    pack_rows<WordOf<T>>(from, step, row_step, columns, rows, elements_);
    return load(elements_, kSize, columns * rows);
  }

 private:
  /// One value, which the blocks of a row share.
  const Compute<T>* repeat(const char* from, int64_t count) {
    if (from != repeated_ || count > repeats_) {
      fill(values(), from, count);
      repeated_ = from, repeats_ = count;
    }
    return values();
  }

  static void fill(Compute<T>* to, const char* from, int64_t count) {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage,clang-analyzer-core.NullDereference): an operand has memory
    const Compute<T> value = static_cast<Compute<T>>(*reinterpret_cast<const T*>(from));
    for (int64_t i = 0; i < count; ++i) to[i] = value;
  }
  Compute<T>* values() { return reinterpret_cast<Compute<T>*>(is_half<T> ? static_cast<void*>(values_) : elements_); }

  alignas(64) char elements_[kLoopBlock * sizeof(T)];
  alignas(64) Compute<T> values_[is_half<T> ? kLoopBlock : 1];
  const char* repeated_ = nullptr;  // of what values() are: one value, or one row again and again
  int64_t repeats_ = 0;
  const char* stored_ = nullptr;  // of what stored() repeats
};

/// The same for the output: `begin` says where to compute to, `end` brings it to memory.
template <class T> class OutputBlock {
 public:
  Compute<T>* begin(char* to, int64_t step) {
    if constexpr (!is_half<T>)
      if (step == sizeof(T)) return reinterpret_cast<T*>(to);
    return values_;
  }
  /// Brings short rows that are not dense to memory.
  void end_rows(char* to, int64_t step, int64_t row_step, int64_t columns, int64_t rows) {
    const auto write = [&](const T* elements) {
      unpack_rows<WordOf<T>>(reinterpret_cast<const char*>(elements), columns, rows, to, step, row_step);
    };
    if constexpr (is_half<T>) {
      T elements[kLoopBlock];
      narrow(values_, elements, columns * rows);
      write(elements);
    } else {
      write(values_);
    }
  }
  void end(char* to, int64_t step, int64_t count) {
    if constexpr (is_half<T>) {
      if (step == sizeof(T)) return narrow(values_, reinterpret_cast<T*>(to), count);
      T elements[kLoopBlock];
      narrow(values_, elements, count);
      move_elements(elements, sizeof(T), to, step, sizeof(T), count);
    } else if (step != sizeof(T)) {
      move_elements(values_, sizeof(T), to, step, sizeof(T), count);
    }
  }

 private:
  alignas(64) Compute<T> values_[kLoopBlock];
};

template <class F, class T> WEFT_SIMD void compute_registers(const F& f, int64_t count, T* out, const auto*... in) {
  constexpr int kWidth = simd::kLanes<T>;
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    (simd::prefetch(in + i, 1024), ...);  // its queues are full of f's instructions before they hold the next load
    simd::store<T>(out + i, f(simd::load<T>(in + i)...));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) simd::store_part<T>(out + i, f(simd::load_part<T>(in + i, rest)...), rest);
}

/// A functor whose fast form is wrong for some inputs has `slow_case(x)` and `slow(x)`: a block that holds such a value
/// takes the careful loop.
template <class F, class Out>
WEFT_SIMD void compute_elements(const F& given, int64_t count, Out* out, const auto*... in) {
  const F f = given;  // a copy that `out` cannot overlap: its constants stay in registers, and the loop vectorizes
  if constexpr (requires { f.slow_case(*in...); }) {
    unsigned slow = 0;
#pragma omp simd reduction(| : slow)
    for (int64_t i = 0; i < count; ++i) slow |= static_cast<unsigned>(f.slow_case(in[i]...));
    if (slow != 0) {
      for (int64_t i = 0; i < count; ++i) out[i] = f.slow_case(in[i]...) ? f.slow(in[i]...) : f(in[i]...);
      return;
    }
  }
#pragma omp simd
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a block's values are written before they are read
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(in[i]...));
}

/// `flatten` inlines the functor however large it is: without that nothing vectorizes. All ways to the loop, and all
/// types that are computed in one, share it: it is what takes long to compile.
template <class F, class Out, class... C>
[[gnu::noinline, gnu::flatten]] void compute(const void* functor, int64_t count, Out* out, const C*... in) {
  const F& f = *static_cast<const F*>(functor);
  if constexpr (requires { f.run(count, out, in...); })  // it has a loop of its own
    f.run(count, out, in...);
  else if constexpr (takes_registers<F, Out, C...>())
    compute_registers(f, count, out, in...);
  else
    compute_elements(f, count, out, in...);
}

/// One of the two inputs is repeated along each row; the rest is dense.
template <class F, class Out, class A, class B>
[[gnu::flatten]] void scalar_rows(const void* functor, char* const* p, const int64_t* step, const int64_t* row_step,
                                  int64_t count, int64_t rows) {
  const F f = *static_cast<const F*>(functor);
  const bool second = step[2] == 0;
  const int64_t out_step = row_step[0], a_step = row_step[1], b_step = row_step[2];
  char *to = p[0], *left = p[1], *right = p[2];
  for (int64_t row = 0; row < rows; ++row, to += out_step, left += a_step, right += b_step) {
    Out* out = reinterpret_cast<Out*>(to);
    const A* a = reinterpret_cast<const A*>(left);
    const B* b = reinterpret_cast<const B*>(right);
    if (second) {
      const B value = *b;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(a[i], value));
    } else {
      const A value = *a;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f(value, b[i]));
    }
  }
}

/// Whether the values must pass through blocks: to be converted, for registers, or to be looked at for slow cases.
template <class F, class Out, class... In> constexpr bool blocks_for() {
  if constexpr ((is_half<Out> || ... || is_half<In>) || takes_registers<F, Out, In...>())
    return true;
  else
    return requires(const F& f, In... x) { f.slow_case(x...); };
}

/// A functor for loops that are compiled for types alone.
template <class Out, class... In> struct Computation {
  const void* functor;
  void (*run)(const void* functor, int64_t count, Compute<Out>* out, const Compute<In>*... in);
  /// Null if there is none.
  void (*scalar_rows)(const void* functor, char* const* p, const int64_t* step, const int64_t* row_step, int64_t count,
                      int64_t rows);
  bool in_blocks;
  /// For kHalvesTogether elements or more. Null if there is none.
  void (*halves)(const void* functor, int64_t count, Out* out, const In*... in) = nullptr;

  template <class F> static Computation of(const F& f) {
    Computation computation{&f, &compute<F, Compute<Out>, Compute<In>...>, nullptr, blocks_for<F, Out, In...>()};
    if constexpr (sizeof...(In) == 2 && !blocks_for<F, Out, In...>())
      computation.scalar_rows = &detail::scalar_rows<F, Out, In...>;
    if constexpr (converts_in_registers<F, Out, In...>()) computation.halves = &compute_halves<F, Out, In...>;
    return computation;
  }
};

template <class Out, class... In, size_t... k>
WEFT_ONE_COPY void block_loop(const Computation<Out, In...>& computation, char* const* p, const int64_t* step,
                              int64_t count, std::index_sequence<k...>) {
  std::tuple<InputBlock<In>...> inputs;
  OutputBlock<Out> output;
  constexpr bool kOneHalf = is_half<Out> && (std::is_same_v<In, Out> && ...);
  const bool in_registers = kOneHalf && computation.halves != nullptr && step[0] == sizeof(Out);
  const bool unit = ((step[k + 1] == sizeof(In)) && ...);
  for (int64_t start = 0, size = 0; start < count; start += size) {
    size = count - start;
    if (size > kLoopBlock && !(in_registers && unit)) size = kLoopBlock;
    if constexpr (kOneHalf) {
      if (in_registers && size >= kHalvesTogether) {
        computation.halves(computation.functor, size, reinterpret_cast<Out*>(p[0]) + start,
                           std::get<k>(inputs).stored(p[k + 1] + start * step[k + 1], step[k + 1], size)...);
        continue;
      }
    }
    char* to = p[0] + start * step[0];
    computation.run(computation.functor, size, output.begin(to, step[0]),
                    std::get<k>(inputs).load(p[k + 1] + start * step[k + 1], step[k + 1], size)...);
    output.end(to, step[0], size);
  }
}

/// Rows of which several fit a block.
template <class Out, class... In, size_t... k>
WEFT_ONE_COPY void short_row_loop(const Computation<Out, In...>& computation, char* const* p, const int64_t* step,
                                  const int64_t* row_step, int64_t columns, int64_t rows, std::index_sequence<k...>) {
  std::tuple<InputBlock<In>...> inputs;
  OutputBlock<Out> output;
  const int64_t most = kLoopBlock / columns;
  const bool dense = step[0] == sizeof(Out) && row_step[0] == columns * step[0];
  for (int64_t row = 0; row < rows; row += most) {
    const int64_t together = rows - row < most ? rows - row : most, size = together * columns;
    char* to = p[0] + row * row_step[0];
    computation.run(computation.functor, size, output.begin(to, dense ? sizeof(Out) : 0),
                    std::get<k>(inputs).load_rows(p[k + 1] + row * row_step[k + 1], step[k + 1], row_step[k + 1],
                                                  columns, together)...);
    dense ? output.end(to, sizeof(Out), size) : output.end_rows(to, step[0], row_step[0], columns, together);
  }
}

template <class F, class Out, class... In> void flat_loop(const F& f, int64_t count, Out* out, const In*... in) {
  if constexpr (blocks_for<F, Out, In...>()) {
    char* pointers[] = {reinterpret_cast<char*>(out), const_cast<char*>(reinterpret_cast<const char*>(in))...};
    constexpr int64_t step[] = {sizeof(Out), sizeof(In)...};
    block_loop(Computation<Out, In...>::of(f), pointers, step, count, std::index_sequence_for<In...>());
  } else {
    compute<F>(&f, count, out, in...);
  }
}

template <class Out, class... In, size_t... k>
void loop_rows_of(const Computation<Out, In...>& computation, char* const* first, const int64_t* step,
                  const int64_t* row_step, int64_t columns, int64_t rows, std::index_sequence<k...> inputs) {
  char* p[1 + sizeof...(In)] = {first[0], first[k + 1]...};
  const bool unit = step[0] == sizeof(Out) && ((step[k + 1] == sizeof(In)) && ...);
  const bool plain = !computation.in_blocks;
  bool one_scalar = false;
  if constexpr (sizeof...(In) == 2) {
    constexpr int64_t size[] = {sizeof(In)...};
    one_scalar = computation.scalar_rows != nullptr && step[0] == sizeof(Out) &&
                 ((step[1] == size[0] && step[2] == 0) || (step[1] == 0 && step[2] == size[1]));
  }
  // Longer rows are faster one by one: sooner if they are contiguous, or if their values need not pass through blocks.
  const int64_t with_scalar = 2, contiguous = plain ? 7 : 48, stepped = plain ? 64 : kLoopBlock / 2;
  if (rows > 1 && columns <= (one_scalar ? with_scalar : unit ? contiguous : stepped))
    return short_row_loop(computation, p, step, row_step, columns, rows, inputs);
  if (one_scalar) return computation.scalar_rows(computation.functor, p, step, row_step, columns, rows);
  for (int64_t row = 0; row < rows; ++row) {
    if (unit && plain)
      computation.run(computation.functor, columns, reinterpret_cast<Compute<Out>*>(p[0]),
                      reinterpret_cast<const Compute<In>*>(p[k + 1])...);
    else
      block_loop(computation, p, step, columns, inputs);
    p[0] += row_step[0];
    ((p[k + 1] += row_step[k + 1]), ...);
  }
}

/// An InnerLoop whose context is the computation.
template <class Out, class... In>
void loop_rows(const void* context, char* const* pointers, const int64_t* step, const int64_t* row_step,
               int64_t columns, int64_t rows) {
  loop_rows_of(*static_cast<const Computation<Out, In...>*>(context), pointers, step, row_step, columns, rows,
               std::index_sequence_for<In...>());
}

/// bool is stored as bytes that are 0 or 1; loops over bytes vectorize better.
template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class F, class Out, class... In>
void run_elementwise(int64_t grain, const F& f, const Operand& out, const std::same_as<Operand> auto&... in) {
  // Little that is row-major: the loop itself, without what strided_loop costs.
  if (out.view->is_contiguous() && (in.view->is_contiguous() && ...))
    if (const int64_t count = out.numel(); count < 2 * grain)
      return flat_loop<F, Out, In...>(f, count, out.template data<Out>(), in.template data<In>()...);
  const Operand operands[] = {out, in...};
  static_assert(1 + sizeof...(In) <= kMaxLoopOperands);
  constexpr uint32_t kReadable = (2u << sizeof...(In)) - 2;
  const auto computation = Computation<Out, In...>::of(f);
  strided_loop(operands, 1 + sizeof...(In), grain, &loop_rows<Out, In...>, &computation, kReadable);
}

}  // namespace detail

/// out[i] = f(in[i]...) for every index; the elements' types are Out and In..., f works on Compute<In>....
template <class Out, class... In, class F>
void elementwise(int64_t grain, const F& f, const Operand& out, const std::same_as<Operand> auto&... in) {
  detail::run_elementwise<F, detail::Stored<Out>, detail::Stored<In>...>(grain, f, out, in...);
}

}  // namespace weft::kernels::cpu
