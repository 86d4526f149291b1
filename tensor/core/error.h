// Errors. Every failure is a weft::Error whose text is one line that names the op, the shapes and the incorrect value;
// only std::bad_alloc, where the heap lacks a few bytes, passes as it is.
//
// The outermost public function opens an ErrorFrame with its name and inputs. Code below it throws errors that only say
// what is wrong. The constructor of the error adds the name and inputs in front:
// `matmul([2, 3] f32, [4, 5] f32): inner sizes differ: 3 and 4`.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

class Tensor;
class IntList;
enum class DType : uint8_t;

/// The name and inputs of the outermost public function that runs on this thread. A frame costs two thread-local
/// accesses.
class ErrorFrame {
 public:
  template <class... Tensors>
  explicit ErrorFrame(const char* name, const Tensors&... inputs) noexcept
      : name_(name), inputs_{static_cast<const Tensor*>(&inputs)...}, count_(sizeof...(inputs)) {
    static_assert(sizeof...(inputs) <= 4);
    open(&ErrorFrame::opening);
  }
  ErrorFrame(const char* name, std::span<const Tensor> list) noexcept : name_(name), list_(list) {
    open(&ErrorFrame::opening);
  }
  ~ErrorFrame() {
    if (outermost_ == this) outermost_ = nullptr;
  }
  ErrorFrame(const ErrorFrame&) = delete;
  ErrorFrame& operator=(const ErrorFrame&) = delete;

  /// `detail` preceded by the name and inputs of the outermost frame; just `detail` if there is no frame.
  static std::string complete(std::string_view detail);

 protected:
  // This header does not know class Tensor, so a frame stores a pointer to the function that prints its inputs.
  using Printer = std::string (*)(const ErrorFrame& frame);
  /// For a frame that replaces the outermost frame while it exists (autograd's NodeFrame).
  explicit ErrorFrame(Printer printer) noexcept : printer_(printer) {}
  static const ErrorFrame* exchange_outermost(const ErrorFrame* frame) noexcept {
    return std::exchange(outermost_, frame);
  }

 private:
  void open(Printer printer) noexcept {
    printer_ = printer;
    if (outermost_ == nullptr) outermost_ = this;
  }
  /// `name([2, 3] f32, [4, 5] f32): `
  static std::string opening(const ErrorFrame& frame);
  Printer printer_;
  const char* name_ = nullptr;
  const Tensor* inputs_[4] = {};
  int count_ = 0;
  std::span<const Tensor> list_;
  static inline thread_local const ErrorFrame* outermost_ = nullptr;
};

/// Base class of all errors. `what()` is one line. If the line abbreviates a list, `items` has the whole list.
/// (Constructors and destructors are in error.cc: every file that throws would compile them again.)
class Error : public std::runtime_error {
 public:
  explicit Error(std::string_view detail);
  Error(std::string_view detail, std::vector<std::string> all);
  ~Error() override;
  /// Adds "in `context`: " in front of the line. Only the first call has an effect, so the innermost layer is named.
  void add_context(std::string_view context);

  std::vector<std::string> items;

 private:
  bool has_context_ = false;
};

/// Shapes that do not match, or a shape that is not possible.
class ShapeError : public Error {
 public:
  using Error::Error;
  ~ShapeError() override;
};
/// A dtype that the op does not accept.
class DtypeError : public Error {
 public:
  using Error::Error;
  ~DtypeError() override;
};
/// An axis or index out of range.
class IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};
/// A history (graph) that is missing, freed, or no longer valid because tensors were modified.
class GradientError : public Error {
 public:
  using Error::Error;
  ~GradientError() override;
};
/// Not enough memory for the data of a tensor, the working memory of an op, or a file.
class MemoryError : public Error {
 public:
  explicit MemoryError(std::string text);
  ~MemoryError() override;
  std::string detail;  // what() without the name and inputs of the op
};
/// Tensors on different devices, a device that does not exist, or memory that the host cannot read.
class DeviceError : public Error {
 public:
  using Error::Error;
  ~DeviceError() override;
};
/// A file that is absent, unreadable or malformed.
class IoError : public Error {
 public:
  using Error::Error;
  ~IoError() override;
};

namespace detail {
void append(std::string& out, std::string_view part);
void append(std::string& out, const char* part);
void append(std::string& out, char part);
void append(std::string& out, bool part);
void append(std::string& out, double part);
void append(std::string& out, long long part);
void append(std::string& out, unsigned long long part);
void append(std::string& out, const IntList& part);
void append(std::string& out, DType part);

template <class T>
  requires std::is_integral_v<T>
void append(std::string& out, T part) {
  if constexpr (std::is_signed_v<T>)
    append(out, static_cast<long long>(part));
  else
    append(out, static_cast<unsigned long long>(part));
}
}  // namespace detail

/// Concatenates the parts into one string: numbers, texts, shapes (`[2, 3]`) and dtypes (`f32`).
template <class... Parts> std::string text(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

namespace detail {
/// Error if `function` is an empty std::function or a null pointer. `who` is the public function that takes it.
template <class F> void check_not_empty(const char* who, const F& function) {
  if constexpr (std::is_constructible_v<F, std::nullptr_t> && requires { function == nullptr; })
    if (function == nullptr) throw Error(text(who, ": the function is empty"));
}
template <class F> F not_empty(const char* who, F function) {
  check_not_empty(who, function);
  return function;
}
}  // namespace detail

}  // namespace weft
