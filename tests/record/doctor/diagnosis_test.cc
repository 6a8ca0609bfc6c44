// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include <set>

#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kAllCapabilities = ~std::uint64_t{0};

// A machine on which all works but tracepoints, whose directory the test does not have.
class DiagnoseTest : public testing::Test {
 protected:
  DiagnoseTest() {
    machine_.facts = {.capabilities = kAllCapabilities,
                      .has_btf = true,
                      .perf_paranoid = 2,
                      .kptr_restrict = 0,
                      .release = "6.1.0"};
    machine_.events = {.tracefs = [&]() -> Result<Tracefs> {
                         return FailMissing(ErrorCode::kUnsupported, "",
                                            {Missing(Requirement::kTracefsMount)});
                       },
                       .try_to_open = [&](const perfdata::EventAttr& attr) -> Status {
                         if (has_pmu_ || attr.type == perfdata::kTypeSoftware) return {};
                         return FailMissing(ErrorCode::kUnsupported, "",
                                            {Missing(Requirement::kHardwareCounters)});
                       },
                       .check_probe_kind = [&](ProbeKind kind) -> Status {
                         if (!IsInKernel(kind) || has_kprobes_) return {};
                         return FailMissing(ErrorCode::kUnsupported, "",
                                            {Missing(Requirement::kKprobes, {"/sys/x"})});
                       },
                       .try_to_probe = [](const ProbeLocation&) { return Status(); },
                       .kernel_functions = []() -> Result<std::vector<std::string>> {
                         return std::vector<std::string>{"vfs_fsync_range"};
                       },
                       .off_cpu = [] { return Status(); }};
    machine_.rehearse = [&](std::span<const PlannedEvent> events) -> Status {
      for (const PlannedEvent& event : events) rehearsed_.insert(event.name);
      return rehearsal_error_ ? Status(Fail(*rehearsal_error_)) : Status();
    };
    machine_.own_function = [](ProbeKind kind) -> Result<ProbeLocation> {
      return ProbeLocation{.kind = kind, .target = "/proc/self/exe", .offset = 0x1000};
    };
    machine_.cgroups = [&]() -> Result<std::vector<CgroupHierarchy>> { return hierarchies_; };
    machine_.has_attach_cookies = [] { return true; };
    machine_.has_task_registers = [] { return true; };
    machine_.has_seccomp = true;
    machine_.landlock_version = 4;
  }

  EventDiagnosis EventOf(std::string_view example) const {
    for (const EventDiagnosis& event : Diagnose(machine_).events) {
      if (event.example.starts_with(example)) return event;
    }
    ADD_FAILURE() << "no event " << example;
    return {};
  }

  Ability AbilityOf(std::string_view name) const {
    for (const Ability& ability : Diagnose(machine_).abilities) {
      if (ability.name.starts_with(name)) return ability;
    }
    ADD_FAILURE() << "no ability " << name;
    return {};
  }

  DoctorMachine machine_;
  bool has_pmu_ = true;
  bool has_kprobes_ = true;
  std::optional<Error> rehearsal_error_;
  std::vector<CgroupHierarchy> hierarchies_ = {{.mount = "/sys/fs/cgroup"}};
  std::set<std::string> rehearsed_;
};

std::vector<std::string_view> NamesOf(const std::vector<Finding>& findings) {
  std::vector<std::string_view> names;
  for (const Finding& finding : findings) names.push_back(NameOf(finding.requirement));
  return names;
}

TEST_F(DiagnoseTest, TriesEachKindOfEvent) {
  const Diagnosis diagnosis = Diagnose(machine_);
  EXPECT_TRUE(diagnosis.default_recording_works());
  EXPECT_EQ(diagnosis.events.front().example, "cpu-clock");
  EXPECT_THAT(rehearsed_, Contains("cpu-clock"));
  EXPECT_THAT(rehearsed_, Contains("cycles"));
  for (const ProbeUsage& probe : ProbeUsages()) {
    EXPECT_TRUE(EventOf(probe.usage).works) << probe.usage;
    EXPECT_THAT(rehearsed_, Contains(HasSubstr(std::string(probe.word))));
  }
}

TEST_F(DiagnoseTest, FindsWhatAnEventLacks) {
  has_pmu_ = has_kprobes_ = false;
  EXPECT_THAT(NamesOf(EventOf("instructions").findings), ElementsAre("hardware-counters"));
  EXPECT_THAT(NamesOf(EventOf("sched:sched_switch").findings), ElementsAre("tracefs-mount"));
  EXPECT_THAT(NamesOf(EventOf("kprobe:").findings), ElementsAre("kprobes"));
  EXPECT_TRUE(EventOf("uprobe:").works);
  EXPECT_TRUE(EventOf("cpu-clock").works);
}

TEST_F(DiagnoseTest, TriesNothingThatTheRecorderWouldRefuse) {
  machine_.facts.has_btf = false;
  const Diagnosis diagnosis = Diagnose(machine_);
  EXPECT_FALSE(diagnosis.default_recording_works());
  EXPECT_THAT(rehearsed_, IsEmpty());
  for (const EventDiagnosis& event : diagnosis.events) {
    EXPECT_EQ(event.findings.front().requirement, Requirement::kBtf) << event.example;
  }
  EXPECT_THAT(NamesOf(EventOf("sched:").findings), ElementsAre("btf", "tracefs-mount"));
}

TEST_F(DiagnoseTest, LeavesOutRefusalsThatFollowFromMissingCapabilities) {
  machine_.facts.capabilities = 0;
  machine_.events.try_to_open = [](const perfdata::EventAttr&) -> Status {
    return Fail(ErrorCode::kPermission, "CPU 0: opening a perf event: Permission denied");
  };
  const EventDiagnosis clock = EventOf("cpu-clock");
  EXPECT_THAT(NamesOf(clock.findings), ElementsAre("capabilities", "perf-event-paranoid"));
  EXPECT_EQ(clock.other_reason, "");
}

TEST_F(DiagnoseTest, QuotesTheRecorderIfNoRequirementFits) {
  rehearsal_error_ = {.code = ErrorCode::kPermission,
                      .message = "cannot load the BPF programs: Bad message"};
  const EventDiagnosis clock = EventOf("cpu-clock");
  EXPECT_FALSE(clock.works);
  EXPECT_THAT(clock.findings, IsEmpty());
  EXPECT_EQ(clock.other_reason, rehearsal_error_->message);
}

TEST_F(DiagnoseTest, FindsTheRequirementInTheErrorOfTheRecorder) {
  const Finding filter = Missing(Requirement::kSystemCallFilter);
  rehearsal_error_ =
      FailBecause(FailErrno("opening a perf event", EPERM).error(), {filter}).error();
  EXPECT_THAT(EventOf("cpu-clock").findings, ElementsAre(filter));
  rehearsal_error_ = FailErrno("sharing the map 'rings'", EMFILE).error();
  EXPECT_THAT(NamesOf(EventOf("cpu-clock").findings), ElementsAre("open-files"));
}

TEST_F(DiagnoseTest, TriesAllEventsOfACriticalPathTogether) {
  EXPECT_TRUE(EventOf("--why").works);
  EXPECT_THAT(rehearsed_, Contains("wakeup"));
  machine_.events.off_cpu = [] {
    return Status(FailMissing(ErrorCode::kUnsupported, "", {Missing(Requirement::kTaskStorage)}));
  };
  EXPECT_THAT(NamesOf(EventOf("--why").findings), ElementsAre("task-storage"));
  const std::vector<std::string> affected =
      Diagnose(machine_).AffectedBy(Missing(Requirement::kTaskStorage));
  EXPECT_THAT(affected, ElementsAre("offcpu", "--why"));
}

TEST_F(DiagnoseTest, ListsEachFindingOnceWithAllThatItAffects) {
  has_kprobes_ = false;
  machine_.facts.kptr_restrict = 2;
  const Diagnosis diagnosis = Diagnose(machine_);
  const std::vector<Finding> findings = diagnosis.AllFindings();
  EXPECT_THAT(NamesOf(findings), ElementsAre("kptr-restrict", "tracefs-mount", "kprobes"));
  EXPECT_THAT(diagnosis.AffectedBy(findings[0]), ElementsAre("names of kernel functions"));
  EXPECT_THAT(diagnosis.AffectedBy(findings[1]), Contains("lock"));
  EXPECT_THAT(diagnosis.AffectedBy(findings[1]), Not(Contains("faults")));
  EXPECT_THAT(diagnosis.AffectedBy(findings[2]), Contains("fexit:FUNCTION"));
}

TEST_F(DiagnoseTest, NamesTheMountedCgroups) {
  EXPECT_TRUE(AbilityOf("cgroups").works);
  EXPECT_EQ(AbilityOf("cgroups").reason, "version 2, /sys/fs/cgroup");
  hierarchies_.clear();
  EXPECT_FALSE(AbilityOf("cgroups").works);
  EXPECT_THAT(NamesOf(AbilityOf("cgroups").findings), ElementsAre("cgroups"));
}

TEST_F(DiagnoseTest, DecidesByTheReleaseWhatOnlyThePrivilegedCanAsk) {
  machine_.has_task_registers = [] { return false; };
  EXPECT_FALSE(AbilityOf("user registers").works);
  machine_.facts.capabilities = 0;
  EXPECT_TRUE(AbilityOf("user registers").works);
  machine_.facts.release = "5.10.0";
  EXPECT_FALSE(AbilityOf("user registers").works);
  EXPECT_THAT(AbilityOf("user registers").reason, HasSubstr("Linux 5.15"));
}

TEST_F(DiagnoseTest, ReportsWhatProtectsTheTools) {
  EXPECT_EQ(AbilityOf("Landlock").reason, "version 4");
  machine_.landlock_version = 0;
  EXPECT_FALSE(AbilityOf("Landlock").works);
  machine_.has_seccomp = false;
  EXPECT_THAT(AbilityOf("seccomp").reason, HasSubstr("CONFIG_SECCOMP_FILTER"));
}

TEST(KernelConfig, HasTheValueOfAnOption) {
  const KernelConfig config{.path = "/boot/config",
                            .text = "# CONFIG_KPROBES is not set\nCONFIG_BPF=y\nCONFIG_X=m\n"};
  EXPECT_EQ(config.ValueOf("CONFIG_BPF"), "y");
  EXPECT_EQ(config.ValueOf("CONFIG_X"), "m");
  EXPECT_EQ(config.ValueOf("CONFIG_KPROBES"), "n");
  EXPECT_EQ(KernelConfig().ValueOf("CONFIG_BPF"), "");
}

TEST_F(DiagnoseTest, TellsWhatWorksWithoutPrograms) {
  machine_.facts.has_btf = false;
  EXPECT_FALSE(Diagnose(machine_).default_recording_works());
  EXPECT_TRUE(Diagnose(machine_).kernel_sampler_works);
  EXPECT_EQ(AbilityOf("recording without BPF programs").reason, "the whole system");
}

TEST_F(DiagnoseTest, TellsWhatWorksWithoutPrivileges) {
  machine_.facts.capabilities = 0;
  EXPECT_FALSE(Diagnose(machine_).default_recording_works());
  EXPECT_TRUE(Diagnose(machine_).user_recording_works);
  EXPECT_TRUE(AbilityOf("recording without privileges").works);
  EXPECT_FALSE(AbilityOf("recording without BPF programs").works);

  machine_.facts.perf_paranoid = 3;
  machine_.events.try_to_open = [](const perfdata::EventAttr&) -> Status {
    return Fail(ErrorCode::kPermission, "refused");
  };
  EXPECT_FALSE(Diagnose(machine_).user_recording_works);
  const Ability ability = AbilityOf("recording without privileges");
  EXPECT_FALSE(ability.works);
  EXPECT_THAT(NamesOf(ability.findings), ElementsAre("user-events"));
}

}  // namespace
}  // namespace perftape::record
