// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t Only(int capability) {
  return std::uint64_t{1} << capability;
}

// Returns a machine that lacks nothing, with the settings of a default Debian.
SystemFacts Good() {
  return {.capabilities = Only(CAP_BPF) | Only(CAP_PERFMON) | Only(CAP_SYSLOG),
          .has_btf = true,
          .perf_paranoid = 2,
          .kptr_restrict = 0,
          .locked_down = false};
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
              ElementsAre(AllOf(HasSubstr("CAP_BPF is missing"), HasSubstr("setcap"))));
}

TEST(CheckFacts, ReportsMissingCapabilitiesAndTheSetting) {
  SystemFacts facts = Good();
  facts.capabilities = 0;
  EXPECT_THAT(CheckFacts(facts).missing,
              ElementsAre(HasSubstr("CAP_BPF and CAP_PERFMON are missing"),
                          HasSubstr("kernel.perf_event_paranoid is 2")));
}

TEST(CheckFacts, DoesNotBlameASettingThatAllowsEveryone) {
  SystemFacts facts = Good();
  facts.capabilities = Only(CAP_BPF);
  facts.perf_paranoid = -1;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(HasSubstr("CAP_PERFMON is missing")));
}

TEST(CheckFacts, RequiresAKernelWithBtf) {
  SystemFacts facts = Good();
  facts.has_btf = false;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(HasSubstr("CONFIG_DEBUG_INFO_BTF")));
}

TEST(CheckFacts, RequiresAKernelWithPerfEvents) {
  SystemFacts facts = Good();
  facts.perf_paranoid.reset();
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(HasSubstr("CONFIG_PERF_EVENTS")));
}

TEST(CheckFacts, ReportsALockdownEvenToRoot) {
  SystemFacts facts = Good();
  facts.capabilities = ~std::uint64_t{0};
  facts.locked_down = true;
  EXPECT_THAT(CheckFacts(facts).missing, ElementsAre(HasSubstr("lockdown=confidentiality")));
}

TEST(CheckFacts, LimitsARecordingWithoutKernelAddresses) {
  SystemFacts facts = Good();
  facts.capabilities &= ~Only(CAP_SYSLOG);
  const Findings findings = CheckFacts(facts);
  EXPECT_THAT(findings.missing, IsEmpty());
  EXPECT_THAT(findings.limits, ElementsAre(HasSubstr("CAP_SYSLOG")));
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
  EXPECT_EQ(WhyAddressesAreHidden(facts), "");
  facts.kptr_restrict = 2;
  EXPECT_THAT(WhyAddressesAreHidden(facts),
              AllOf(HasSubstr("kernel.kptr_restrict is 2"), Not(HasSubstr("CAP_SYSLOG"))));
  facts.kptr_restrict = 1;
  EXPECT_EQ(WhyAddressesAreHidden(facts), "");
  facts.capabilities = 0;
  EXPECT_THAT(WhyAddressesAreHidden(facts), HasSubstr("CAP_SYSLOG is missing"));
}

TEST(CheckFacts, ReportsAddressesThatKptrRestrictHidesFromRoot) {
  SystemFacts facts = Good();
  facts.capabilities = ~std::uint64_t{0};
  facts.kptr_restrict = 2;
  EXPECT_THAT(CheckFacts(facts).limits, ElementsAre(HasSubstr("sysctl kernel.kptr_restrict=1")));
}

}  // namespace
}  // namespace perftape::record
