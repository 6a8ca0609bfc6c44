// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Finding> All() {
  std::vector<Finding> findings;
  for (int i = 0; i <= std::to_underlying(Requirement::kCgroups); ++i) {
    findings.push_back(Missing(static_cast<Requirement>(i), {"first", "second", "third"}));
  }
  return findings;
}

TEST(Requirement, HasANameAndAProblemAndARemedy) {
  std::set<std::string_view> names;
  for (const Finding& finding : All()) {
    EXPECT_TRUE(names.insert(NameOf(finding.requirement)).second) << NameOf(finding.requirement);
    EXPECT_NE(finding.problem, "");
    EXPECT_NE(finding.remedy + finding.command, "") << finding.problem;
    EXPECT_EQ(finding.text().find('{'), std::string::npos) << finding.text();
  }
}

TEST(Requirement, TextJoinsProblemRemedyAndCommand) {
  EXPECT_EQ(Missing(Requirement::kTracefsMount).text(),
            "tracefs is not mounted: 'sudo mount -t tracefs tracefs /sys/kernel/tracing'");
  EXPECT_EQ(Missing(Requirement::kCapabilities, {"BPF is", "/opt/perftape-record"}).text(),
            "CAP_BPF is missing: run it as root, or grant them once with 'sudo setcap "
            "cap_bpf,cap_perfmon,cap_syslog+ep /opt/perftape-record'");
  EXPECT_EQ(Missing(Requirement::kUprobes, {"/sys/x"}).text(),
            "this kernel has no uprobes (/sys/x is absent): use one with CONFIG_UPROBE_EVENTS");
}

TEST(FailMissing, SaysAndKeepsWhatIsMissing) {
  const Finding mount = Missing(Requirement::kTracefsMount);
  const Finding btf = Missing(Requirement::kBtf);
  const Error error = FailMissing(ErrorCode::kUnsupported, "here", {mount, btf}).error();
  EXPECT_EQ(error.message, "here: " + mount.text() + "; " + btf.text());
  EXPECT_THAT(FindingsOf(InContext("event 'x'", error)), ElementsAre(mount, btf));
  EXPECT_EQ(FailMissing(ErrorCode::kUnsupported, "", {btf}).error().message, btf.text());
}

TEST(FailBecause, AddsTheCausesIfThereAreAny) {
  const Finding btf = Missing(Requirement::kBtf);
  const Error refused = FailErrno("here", EPERM).error();
  const Error explained = FailBecause(refused, {btf}).error();
  EXPECT_EQ(explained.message, refused.message + "; " + btf.text());
  EXPECT_EQ(explained.error_number, EPERM);
  EXPECT_THAT(FindingsOf(explained), ElementsAre(btf));
  EXPECT_EQ(FailBecause(refused, {}).error().message, refused.message);
}

TEST(FindingsOf, AreNoneInOtherErrors) {
  EXPECT_THAT(FindingsOf(FailErrno("here", EPERM).error()), IsEmpty());
  EXPECT_THAT(FindingsOf(Fail(ErrorCode::kIo, Missing(Requirement::kBtf).text()).error()),
              IsEmpty());
}

}  // namespace
}  // namespace perftape::record
