// SPDX-License-Identifier: Apache-2.0
// Errors as values, with one error type for the whole tree. Programs use the code (exit status,
// retry), users read the message.
//
//   Result<Header> ReadHeader(Bytes file) {
//     TRY_ASSIGN(const Section attrs, ReadSection(file, 24));
//     TRY(CheckSection(attrs, file));
//     ...
//   }
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace perftape {
inline namespace base {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // The request cannot be fulfilled.
  kNotFound,         // A named file, section or symbol does not exist.
  kPermission,       // The kernel or the file system refused.
  kIo,               // Opening, reading, writing or mapping failed.
  kTruncated,        // The input ends inside a structure.
  kCorrupt,          // The input contradicts its own format.
  kUnsupported,      // Well-formed input that this version does not read.
};

// Details of an error, for programs. A room derives a class with the details that its callers need.
struct ErrorDetail {
  ErrorDetail() = default;
  virtual ~ErrorDetail() = default;
  ErrorDetail(const ErrorDetail&) = delete;
  ErrorDetail& operator=(const ErrorDetail&) = delete;
};

struct Error {
  ErrorCode code;
  std::string message;   // Lower case, no full stop. First where, then what happened.
  int error_number = 0;  // the errno of the system call that failed; 0 if none did
  std::shared_ptr<const ErrorDetail> detail = nullptr;
};

// A std::expected whose result the compiler does not let a caller ignore. std::expected in
// libstdc++ 12 is not [[nodiscard]].
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};
using Status = Result<void>;

std::unexpected<Error> Fail(ErrorCode code, std::string message);
std::unexpected<Error> Fail(Error error);

// The error of a system call: "<what>: <strerror(error_number)>". The code is kPermission for EPERM
// and EACCES, kNotFound for ENOENT, and kIo for all others. Call it before errno can change.
std::unexpected<Error> FailErrno(std::string_view what, int error_number);

// The same error with `context` in front of its message: "perf.data: feature BUILD_ID: …".
Error InContext(std::string_view context, Error error);

}  // namespace base
}  // namespace perftape

#define PERFTAPE_CONCAT_INNER(a, b) a##b
#define PERFTAPE_CONCAT(a, b) PERFTAPE_CONCAT_INNER(a, b)

// Evaluates `expression`, a Status. Returns its error, if any, from the enclosing function.
#define TRY(expression)                                                         \
  do {                                                                          \
    if (auto try_status = (expression); !try_status) {                          \
      return std::unexpected<::perftape::Error>(std::move(try_status).error()); \
    }                                                                           \
  } while (false)

// Initializes `declaration` with the value of `expression`, a Result. Returns its error, if any.
#define TRY_ASSIGN(declaration, expression) \
  PERFTAPE_TRY_ASSIGN(declaration, expression, PERFTAPE_CONCAT(try_result_, __COUNTER__))
#define PERFTAPE_TRY_ASSIGN(declaration, expression, result)                         \
  auto result = (expression);                                                        \
  if (!result) return std::unexpected<::perftape::Error>(std::move(result).error()); \
  declaration = *std::move(result)
