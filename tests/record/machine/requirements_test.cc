// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include <set>
#include <utility>

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ResultOf;

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
  EXPECT_EQ(
      Missing(Requirement::kUprobes, {"/sys/x"}).text(),
      "this kernel has no uprobes (/sys/x is absent): use a kernel with CONFIG_UPROBE_EVENTS");
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

constexpr std::uint64_t Only(int capability) {
  return std::uint64_t{1} << capability;
}

// Returns a machine that lacks nothing, with the settings of a default Debian.
SystemFacts Good() {
  return {.capabilities = Only(CAP_BPF) | Only(CAP_PERFMON) | Only(CAP_SYSLOG),
          .has_btf = true,
          .perf_paranoid = 2,
          .kptr_restrict = 0,
          .locked_down = false,
          .release = "6.1.0-18-amd64"};
}

std::string TextOf(const Finding& finding) {
  return finding.text();
}

// Matches a finding by its text.
template <class Matcher>
auto Text(Matcher matcher) {
  return ResultOf("text", &TextOf, matcher);
}

std::string WhyHidden(const SystemFacts& facts) {
  const std::optional<Finding> why = WhyAddressesAreHidden(facts);
  return why ? why->text() : "";
}

TEST(CheckFacts, FindsNothingWhereNothingIsMissing) {
  const Findings findings = CheckFacts(Good());
  EXPECT_THAT(findings.missing, IsEmpty());
  EXPECT_THAT(findings.limits, IsEmpty());
}

TEST(CheckFacts, AcceptsSysAdminForBothCapabilities) {
  SystemFacts facts = Good();
  facts.capabilities = Only(CAP_SYS_ADMIN) | Only(CAP_SYSLOG);
  EXPECT_THAT(CheckFacts(facts).missing, IsEmpty());
}

TEST(CheckFacts, NamesTheOneCapabilityThatIsMissing) {
  SystemFacts facts = Good();
  facts.capabilities &= ~Only(CAP_BPF);
  EXPECT_THAT(CheckFacts(facts).missing,
              ElementsAre(Text(AllOf(HasSubstr("CAP_BPF is missing"), HasSubstr("setcap")))));
}

TEST(CheckFacts, ReportsMissingCapabilitiesAndTheSetting) {
  SystemFacts facts = Good();
  facts.capabilities = 0;
  EXPECT_THAT(CheckFacts(facts).missing,
              ElementsAre(Text(HasSubstr("CAP_BPF and CAP_PERFMON are missing")),
                          Text(HasSubstr("kernel.perf_event_paranoid is 2"))));
}

TEST(CheckFacts, DoesNotBlameASettingThatAllowsEveryone) {
  SystemFacts facts = Good();
  facts.capabilities = Only(CAP_BPF);
  facts.perf_paranoid = -1;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(Text(HasSubstr("CAP_PERFMON is missing"))));
}

TEST(CheckFacts, RequiresAKernelWithBtf) {
  SystemFacts facts = Good();
  facts.has_btf = false;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(Text(HasSubstr("CONFIG_DEBUG_INFO_BTF"))));
}

TEST(CheckFacts, RequiresAKernelWithPerfEvents) {
  SystemFacts facts = Good();
  facts.perf_paranoid.reset();
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(Text(HasSubstr("CONFIG_PERF_EVENTS"))));
}

TEST(CheckFacts, ReportsALockdownEvenToRoot) {
  SystemFacts facts = Good();
  facts.capabilities = ~std::uint64_t{0};
  facts.locked_down = true;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(Text(HasSubstr("lockdown=confidentiality"))));
}

TEST(CheckFacts, LimitsARecordingWithoutKernelAddresses) {
  SystemFacts facts = Good();
  facts.capabilities &= ~Only(CAP_SYSLOG);
  const Findings findings = CheckFacts(facts);
  EXPECT_THAT(findings.missing, IsEmpty());
  EXPECT_THAT(findings.limits, ElementsAre(Text(HasSubstr("CAP_SYSLOG"))));
}

// kernel/ksyms_common.c: with kptr_restrict 0 and perf_event_paranoid 1 everyone may read kallsyms.
TEST(CheckFacts, NeedsNoSyslogWhereTheKernelIsOpen) {
  SystemFacts facts = Good();
  facts.capabilities &= ~Only(CAP_SYSLOG);
  facts.perf_paranoid = 1;
  EXPECT_THAT(CheckFacts(facts).limits, IsEmpty());
}

TEST(WhyAddressesAreHidden, BlamesWhatHidesThem) {
  SystemFacts facts = Good();
  EXPECT_EQ(WhyHidden(facts), "");
  facts.kptr_restrict = 2;
  EXPECT_THAT(WhyHidden(facts),
              AllOf(HasSubstr("kernel.kptr_restrict is 2"), Not(HasSubstr("CAP_SYSLOG"))));
  facts.kptr_restrict = 1;
  EXPECT_EQ(WhyHidden(facts), "");
  facts.capabilities = 0;
  EXPECT_THAT(WhyHidden(facts), HasSubstr("CAP_SYSLOG is missing"));
}

TEST(CheckFacts, ReportsAddressesThatKptrRestrictHidesFromRoot) {
  SystemFacts facts = Good();
  facts.capabilities = ~std::uint64_t{0};
  facts.kptr_restrict = 2;
  EXPECT_THAT(CheckFacts(facts).limits,
              ElementsAre(Text(HasSubstr("sysctl kernel.kptr_restrict=1"))));
}

TEST(CheckFacts, RefusesAUserNamespaceWhateverItsCapabilities) {
  SystemFacts facts = Good();
  facts.capabilities = ~std::uint64_t{0};
  facts.in_user_namespace = true;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(Text(HasSubstr("user namespace"))));
}

TEST(LikelyCauses, AreThoseThatFitTheErrorAndTheMachine) {
  SystemFacts facts = Good();
  facts.locked_memory_kib = 64;
  EXPECT_THAT(LikelyCauses(facts, EPERM), IsEmpty());
  facts.release = "5.10.0";
  EXPECT_THAT(LikelyCauses(facts, EPERM), ElementsAre(Text(HasSubstr("limited to 64 KiB"))));
  EXPECT_THAT(LikelyCauses(facts, EINVAL), IsEmpty());
  facts.release = "5.4.0";
  EXPECT_THAT(LikelyCauses(facts, EINVAL), ElementsAre(Text(HasSubstr("Linux 5.8 or later"))));
  EXPECT_THAT(LikelyCauses(facts, EMFILE), ElementsAre(Text(HasSubstr("prlimit --nofile"))));
  facts.locked_memory_kib.reset();
  facts.has_system_call_filter = true;
  EXPECT_THAT(LikelyCauses(facts, ENOSYS), ElementsAre(Text(HasSubstr("seccomp"))));
}

TEST(SystemFacts, CompareReleasesByNumber) {
  SystemFacts facts = Good();
  facts.release = "5.10.0-8-amd64";
  EXPECT_FALSE(facts.IsOlderThan(5, 8));
  EXPECT_FALSE(facts.IsOlderThan(5, 10));
  EXPECT_TRUE(facts.IsOlderThan(5, 11));
  EXPECT_TRUE(facts.IsOlderThan(6, 1));
  facts.release = "";
  EXPECT_FALSE(facts.IsOlderThan(5, 8));
}

TEST(WhyNoPrograms, IsWhatAUserLacks) {
  EXPECT_EQ(WhyNoPrograms(Good()), std::nullopt);
  SystemFacts user = Good();
  user.capabilities = 0;
  EXPECT_THAT(WhyNoPrograms(user)->problem, "CAP_BPF and CAP_PERFMON are missing");
  SystemFacts in_namespace = Good();
  in_namespace.in_user_namespace = true;
  EXPECT_EQ(WhyNoPrograms(in_namespace)->requirement, Requirement::kUserNamespace);
}

TEST(WhyNoPrograms, IsNothingThatRootLacksToo) {
  SystemFacts facts = Good();
  facts.has_btf = false;
  facts.locked_down = true;
  EXPECT_EQ(WhyNoPrograms(facts), std::nullopt);
}

}  // namespace
}  // namespace perftape::record
