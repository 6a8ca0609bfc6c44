// SPDX-License-Identifier: Apache-2.0
#include "formats/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "tests/support/matchers.h"

namespace perftape {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(ErrorCode::kCorrupt, "odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  TRY_ASSIGN(const int half, Half(number));
  TRY_ASSIGN(const int quarter, Half(half));
  return quarter;
}

Status IsDivisibleByFour(int number) {
  TRY(Quarter(number));
  return {};
}

TEST(Result, TryAssignGoesOnWithTheValue) {
  EXPECT_THAT(Quarter(12), Holds(3));
}

TEST(Result, TryAssignReturnsTheFirstError) {
  EXPECT_THAT(Quarter(6), FailsWith(ErrorCode::kCorrupt, "odd"));
}

TEST(Result, TryReturnsTheErrorOfAnotherTypeOfResult) {
  EXPECT_THAT(IsDivisibleByFour(8), IsOk());
  EXPECT_THAT(IsDivisibleByFour(2), FailsWith(ErrorCode::kCorrupt));
}

TEST(Result, TryAssignMovesWhatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(4); };
  const auto use = [&]() -> Result<int> {
    TRY_ASSIGN(const std::unique_ptr<int> number, make());
    return *number;
  };
  EXPECT_THAT(use(), Holds(4));
}

TEST(Error, DerivesItsCodeFromErrno) {
  EXPECT_THAT(Status(FailErrno("a.data", ENOENT)),
              FailsWith(ErrorCode::kNotFound, "a.data: No such file or directory"));
  EXPECT_THAT(Status(FailErrno("a.data", EACCES)), FailsWith(ErrorCode::kPermission));
  EXPECT_THAT(Status(FailErrno("bpf", EPERM)), FailsWith(ErrorCode::kPermission));
  EXPECT_THAT(Status(FailErrno("a.data", ENOSPC)), FailsWith(ErrorCode::kIo));
}

TEST(Error, PrependsContextAndKeepsItsCode) {
  const Error error = InContext("perf.data", Error{ErrorCode::kTruncated, "at 0x10: ends"});
  EXPECT_EQ(error.message, "perf.data: at 0x10: ends");
  EXPECT_EQ(error.code, ErrorCode::kTruncated);
}

}  // namespace
}  // namespace perftape
