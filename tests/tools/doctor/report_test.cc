// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/doctor/command_line.h"

namespace perftape::doctor_tool {
namespace {

using record::Finding;
using record::Missing;
using record::Requirement;
using testing::HasSubstr;
using testing::Not;

const Finding kNoKprobes = Missing(Requirement::kKprobes, {"/sys/x"});
const Finding kNoMount = Missing(Requirement::kTracefsMount);

record::Diagnosis SomeDiagnosis() {
  return {
      .events = {{.kind = "clock", .example = "cpu-clock", .works = true},
                 {.kind = "tracepoint", .example = "sched:sched_switch", .findings = {kNoMount}},
                 {.kind = "kprobe", .example = "kprobe:FUNCTION", .findings = {kNoKprobes}},
                 {.kind = "fentry",
                  .example = "fentry:FUNCTION",
                  .other_reason = "re\x1b"
                                  "fused"}},
      .abilities = {{.name = "Landlock", .works = true, .reason = "version 4"}}};
}

record::DoctorMachine SomeMachine() {
  record::DoctorMachine machine;
  machine.facts.release = "6.1.0";
  machine.facts.perf_paranoid = 2;
  machine.config = {.path = "/boot/config-6.1.0", .text = "CONFIG_FTRACE=y\n"};
  return machine;
}

TEST(ReportText, HasALineForEachEventAndTheRemedies) {
  const std::string text = ReportText(SomeDiagnosis(), SomeMachine());
  EXPECT_THAT(text, HasSubstr("Linux 6.1.0: a recording without options works.\n"));
  EXPECT_THAT(text, HasSubstr("  clock            cpu-clock                      works\n"));
  EXPECT_THAT(text, HasSubstr("  tracepoint       sched:sched_switch             does not work: "
                              "tracefs is not mounted\n"));
  EXPECT_THAT(text, HasSubstr("fentry:FUNCTION                does not work: re\\x1bfused\n"));
  EXPECT_THAT(text, HasSubstr("yes: version 4\n"));
  EXPECT_THAT(text, HasSubstr("  tracefs is not mounted\n"
                              "    needed for: sched:sched_switch\n"
                              "    kernel: CONFIG_FTRACE=y in /boot/config-6.1.0\n"
                              "      sudo mount -t tracefs tracefs /sys/kernel/tracing\n"));
  EXPECT_THAT(text, HasSubstr("    kernel: CONFIG_KPROBE_EVENTS is not set in /boot/config-6.1.0\n"
                              "    remedy: use a kernel with CONFIG_KPROBE_EVENTS\n"));
}

TEST(ReportText, TellsThatUserCodeCanBeRecorded) {
  record::Diagnosis diagnosis = SomeDiagnosis();
  diagnosis.events[0].works = false;
  diagnosis.user_recording_works = true;
  EXPECT_THAT(
      ReportText(diagnosis, SomeMachine()),
      HasSubstr("does not work, but a recording of user code does: perftape-record COMMAND.\n"));
  EXPECT_EQ(nlohmann::json::parse(ReportJson(diagnosis, SomeMachine()))["user_recording_works"],
            true);
}

TEST(ReportText, TellsThatNoProgramsAreNeeded) {
  record::Diagnosis diagnosis = SomeDiagnosis();
  diagnosis.events[0].works = false;
  diagnosis.kernel_sampler_works = diagnosis.user_recording_works = true;
  EXPECT_THAT(ReportText(diagnosis, SomeMachine()),
              HasSubstr("works without BPF programs, as perf record does.\n"));
}

TEST(ReportText, HasNoRemediesIfNothingIsMissing) {
  record::Diagnosis diagnosis = SomeDiagnosis();
  diagnosis.events.resize(1);
  EXPECT_THAT(ReportText(diagnosis, SomeMachine()), Not(HasSubstr("missing")));
}

TEST(ReportText, SaysIfAFindingAffectsAllEvents) {
  const Finding btf = Missing(Requirement::kBtf);
  record::Diagnosis diagnosis = SomeDiagnosis();
  for (record::EventDiagnosis& event : diagnosis.events) {
    event.works = false;
    event.findings = {btf};
  }
  const std::string text = ReportText(diagnosis, SomeMachine());
  EXPECT_THAT(text, HasSubstr("a recording without options does not work.\n"));
  EXPECT_THAT(text, HasSubstr("needed for: all events\n"));
}

TEST(ReportJson, HasEventsAndFindings) {
  const auto json = nlohmann::json::parse(ReportJson(SomeDiagnosis(), SomeMachine()));
  EXPECT_EQ(json["default_recording_works"], true);
  EXPECT_EQ(json["machine"]["release"], "6.1.0");
  EXPECT_EQ(json["machine"]["perf_event_paranoid"], 2);
  EXPECT_TRUE(json["machine"]["kptr_restrict"].is_null());
  EXPECT_EQ(json["events"][1]["findings"][0], "tracefs-mount");
  EXPECT_EQ(json["events"][3]["works"], false);
  EXPECT_THAT(std::string(json["events"][3]["reason"]), HasSubstr("fused"));
  EXPECT_EQ(json["abilities"][0]["name"], "Landlock");
  EXPECT_EQ(json["findings"][0]["command"], kNoMount.command);
  EXPECT_EQ(json["findings"][0]["message"], kNoMount.text());
  EXPECT_EQ(json["findings"][1]["affects"][0], "kprobe:FUNCTION");
  EXPECT_EQ(json["findings"][1]["config"]["value"], "n");
}

TEST(DoctorPlan, RefusesOperands) {
  EXPECT_EQ(PlanOf(cli::Parse<Plan>(DoctorCommand(), std::vector<std::string>{"--json"}).value())
                ->report_as,
            ReportAs::kJson);
  EXPECT_FALSE(PlanOf(cli::Parse<Plan>(DoctorCommand(), std::vector<std::string>{"x"}).value()));
}

}  // namespace
}  // namespace perftape::doctor_tool
