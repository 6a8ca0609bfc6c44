// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <map>

namespace perftape::sandbox {
namespace {

class SystemCalls : public testing::TestWithParam<Caller> {};
INSTANTIATE_TEST_SUITE_P(Callers, SystemCalls,
                         testing::Values(Caller::kReader, Caller::kRecorder, Caller::kServer,
                                         Caller::kClient));

TEST_P(SystemCalls, HaveOneVerdictWithoutACondition) {
  std::map<std::uint32_t, int> rows, unconditional;
  for (const SystemCallRow& row : SystemCallTable()) {
    if (!AppliesTo(row, GetParam())) continue;
    ++rows[row.number];
    if (row.argument.test == ArgumentRule::Test::kNone) ++unconditional[row.number];
  }
  for (const auto& [number, count] : unconditional) EXPECT_EQ(rows[number], 1) << number;
}

TEST_P(SystemCalls, NeverAllowExecutionOrListening) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (!AppliesTo(row, GetParam()) || row.verdict != Verdict::kAllow) continue;
    EXPECT_THAT(row.number, testing::Not(testing::AnyOf(SYS_execve, SYS_execveat, SYS_clone3,
                                                        SYS_listen, SYS_ptrace)));
    if (row.number == SYS_clone) {
      EXPECT_EQ(row.argument.test, ArgumentRule::Test::kBits);
    }
  }
}

TEST(SystemCallTable, GivesFilesToAllButServers) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (row.number != SYS_openat && row.number != SYS_unlinkat && row.number != SYS_openat2)
      continue;
    EXPECT_TRUE(AppliesTo(row, Caller::kReader));
    EXPECT_FALSE(AppliesTo(row, Caller::kServer));
  }
}

TEST(SystemCallTable, GivesSocketsOnlyToClients) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (row.number != SYS_socket && row.number != SYS_socketpair && row.number != SYS_connect)
      continue;
    EXPECT_EQ(row.verdict == Verdict::kAllow, row.caller == Caller::kClient) << row.number;
    if (row.number == SYS_socket && row.verdict == Verdict::kAllow) {
      EXPECT_EQ(row.argument.test, ArgumentRule::Test::kBits);
    }
  }
}

TEST(SystemCallTable, GivesEventsAndProgramsOnlyToRecorders) {
  for (const SystemCallRow& row : SystemCallTable()) {
    if (row.number != SYS_perf_event_open && row.number != SYS_bpf) continue;
    EXPECT_EQ(row.verdict == Verdict::kAllow, row.caller == Caller::kRecorder) << row.number;
  }
}

}  // namespace
}  // namespace perftape::sandbox
