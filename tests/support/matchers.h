// SPDX-License-Identifier: Apache-2.0
// Matchers for a Result: success, failure with a code and message, and the record in it.
//
//   EXPECT_THAT(writer.Commit(), IsOk());
//   EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
//   EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated, HasSubstr("0x1f40")));
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "formats/base/result.h"

namespace perftape {

inline std::string_view NameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "kInvalidArgument";
    case ErrorCode::kNotFound:
      return "kNotFound";
    case ErrorCode::kPermission:
      return "kPermission";
    case ErrorCode::kIo:
      return "kIo";
    case ErrorCode::kTruncated:
      return "kTruncated";
    case ErrorCode::kCorrupt:
      return "kCorrupt";
    case ErrorCode::kUnsupported:
      return "kUnsupported";
  }
  return "?";
}

// Prints the code's name if an expectation fails.
inline void PrintTo(ErrorCode code, std::ostream* out) {
  *out << NameOf(code);
}
template <class T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  if (result.has_value()) {
    *out << "a value";
  } else {
    *out << NameOf(result.error().code) << " \"" << result.error().message << '"';
  }
}

MATCHER(IsOk, negation ? "is an error" : "is no error") {
  return arg.has_value();
}

// Matches a Result with a value that matches `inner`.
MATCHER_P(Holds, inner, "holds a value") {
  return arg.has_value() && testing::ExplainMatchResult(inner, *arg, result_listener);
}

MATCHER_P(FailsWith, code, "fails with " + std::string(NameOf(code))) {
  return !arg.has_value() && arg.error().code == code;
}

// Also matches the message: FailsWith(code, HasSubstr("0x1f40")).
MATCHER_P2(FailsWith, code, message, "fails with " + std::string(NameOf(code))) {
  return !arg.has_value() && arg.error().code == code &&
         testing::ExplainMatchResult(message, arg.error().message, result_listener);
}

// Matches the result of a cursor's Next(): a record of this type.
MATCHER_P(HasRecord, type,
          "is a record of type " + testing::PrintToString(std::to_underlying(type))) {
  if (!arg.has_value() || !arg->has_value()) return false;
  *result_listener << "which is of type " << std::to_underlying((*arg)->type);
  return (*arg)->type == type;
}

// Matches the result of Next() at the end: no record and no error.
MATCHER(IsAtEnd, "is at the end") {
  return arg.has_value() && !arg->has_value();
}

}  // namespace perftape
