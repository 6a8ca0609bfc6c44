// SPDX-License-Identifier: Apache-2.0
// Errors as values: one error type for the whole tree. The code is for the program (exit status,
// retry), the message for the person.
//
//   Result<Header> ReadHeader(Bytes file) {
//     TRY_ASSIGN(const Section attrs, ReadSection(file, 24));
//     TRY(CheckSection(attrs, file));
//     ...
//   }
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace perftape {
inline namespace base {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // The caller asked for something that cannot be done.
  kNotFound,         // A named file, section or symbol is absent.
  kPermission,       // The kernel or the file system refused.
  kIo,               // Opening, reading, writing or mapping failed.
  kTruncated,        // The input ends inside a structure.
  kCorrupt,          // The input contradicts its own format.
  kUnsupported,      // Well-formed input that this version does not read.
};

struct Error {
  ErrorCode code;
  std::string message;  // Lower case, no full stop; says where before what.
};

// std::expected, but a compiler warning where the caller drops it: the class in libstdc++ 12 is not
// [[nodiscard]].
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};
using Status = Result<void>;

std::unexpected<Error> Fail(ErrorCode code, std::string message);
std::unexpected<Error> Fail(Error error);

// The failure of a system call: "<what>: <strerror(error_number)>", kPermission for EPERM and
// EACCES, kNotFound for ENOENT, kIo for the rest. Call it before anything changes errno.
std::unexpected<Error> FailErrno(std::string_view what, int error_number);

// The same error with one more link in front of its message: "perf.data: feature BUILD_ID: …".
Error InContext(std::string_view context, Error error);

}  // namespace base
}  // namespace perftape

#define PERFTAPE_CONCAT_INNER(a, b) a##b
#define PERFTAPE_CONCAT(a, b) PERFTAPE_CONCAT_INNER(a, b)

// Returns the error of `expression`, a Status, from the enclosing function; or goes on.
#define TRY(expression)                                                         \
  do {                                                                          \
    if (auto try_status = (expression); !try_status) {                          \
      return std::unexpected<::perftape::Error>(std::move(try_status).error()); \
    }                                                                           \
  } while (false)

// Declares `declaration` with the value of `expression`, a Result; or returns its error.
#define TRY_ASSIGN(declaration, expression) \
  PERFTAPE_TRY_ASSIGN(declaration, expression, PERFTAPE_CONCAT(try_result_, __COUNTER__))
#define PERFTAPE_TRY_ASSIGN(declaration, expression, result)                         \
  auto result = (expression);                                                        \
  if (!result) return std::unexpected<::perftape::Error>(std::move(result).error()); \
  declaration = *std::move(result)
