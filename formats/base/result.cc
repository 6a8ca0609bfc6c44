// SPDX-License-Identifier: Apache-2.0
#include "formats/base/result.h"

#include <cerrno>
#include <system_error>

namespace perftape {
inline namespace base {

std::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

std::unexpected<Error> Fail(Error error) {
  return std::unexpected(std::move(error));
}

std::unexpected<Error> FailErrno(std::string_view what, int error_number) {
  ErrorCode code = ErrorCode::kIo;
  if (error_number == EPERM || error_number == EACCES) code = ErrorCode::kPermission;
  if (error_number == ENOENT) code = ErrorCode::kNotFound;
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(error_number);
  return Fail({.code = code, .message = std::move(message), .error_number = error_number});
}

Error InContext(std::string_view context, Error error) {
  std::string message(context);
  message += ": ";
  message += error.message;
  error.message = std::move(message);
  return error;
}

}  // namespace base
}  // namespace perftape
