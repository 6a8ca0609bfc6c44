// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace perftape::sandbox {
namespace {

bool Applies(const SystemCallRow& row, Caller caller) {
  return row.caller == Caller::kAll || row.caller == caller;
}

class SystemCalls : public testing::TestWithParam<Caller> {};
INSTANTIATE_TEST_SUITE_P(Callers, SystemCalls, testing::Values(Caller::kReader, Caller::kRecorder));

// libseccomp would use one of two rows without conditions, and ignore the other.
TEST_P(SystemCalls, HaveOneVerdictWithoutACondition) {
  std::map<std::string_view, int> rows, unconditional;
  for (const SystemCallRow& row : SystemCallTable()) {
    if (!Applies(row, GetParam())) continue;
    ++rows[row.name];
    if (row.argument.test == ArgumentRule::Test::kNone) ++unconditional[row.name];
  }
  for (const auto& [name, count] : unconditional) EXPECT_EQ(rows[name], 1) << name;
}

TEST_P(SystemCalls, NeverAllowExecutionOrSockets) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (!Applies(row, GetParam()) || row.verdict != Verdict::kAllow) continue;
    EXPECT_THAT(row.name, testing::Not(testing::AnyOf("execve", "execveat", "fork", "vfork",
                                                      "clone3", "socket", "connect", "ptrace")));
    if (row.name == "clone") {
      EXPECT_EQ(row.argument.test, ArgumentRule::Test::kBits);
    }
  }
}

TEST(SystemCallTable, GivesEventsAndProgramsOnlyToRecorders) {
  for (const std::string_view name : {"perf_event_open", "bpf"}) {
    for (const SystemCallRow& row : SystemCallTable()) {
      if (row.name != name) continue;
      EXPECT_EQ(row.verdict == Verdict::kAllow, row.caller == Caller::kRecorder) << name;
    }
  }
}

}  // namespace
}  // namespace perftape::sandbox
