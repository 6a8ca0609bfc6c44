// SPDX-License-Identifier: Apache-2.0
#include "convert/script/fields.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::listing {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> change_warnings;

FieldPlan Changed(std::string_view argument) {
  FieldPlan plan;
  change_warnings.clear();
  EXPECT_TRUE(plan.Change(argument, change_warnings).has_value());
  return plan;
}

std::string FailureOf(std::string_view argument) {
  FieldPlan plan;
  const Status status = plan.Change(argument, change_warnings);
  return status ? "" : status.error().message;
}

TEST(FieldPlan, StartsWithPerfsDefault) {
  const FieldPlan plan;
  EXPECT_TRUE(plan.of(OutputType::kSoftware).Has(Field::kIp));
  EXPECT_FALSE(plan.of(OutputType::kTracepoint).Has(Field::kIp));
  EXPECT_TRUE(plan.of(OutputType::kTracepoint).Has(Field::kTrace));
  EXPECT_TRUE(plan.of(OutputType::kRaw).Has(Field::kAddr));
}

TEST(FieldPlan, AListReplacesTheFieldsOfAllTypes) {
  const FieldPlan plan = Changed("comm,ip");
  for (const OutputType type : {OutputType::kHardware, OutputType::kTracepoint}) {
    EXPECT_TRUE(plan.of(type).Has(Field::kComm));
    EXPECT_TRUE(plan.of(type).Has(Field::kIp));
    EXPECT_FALSE(plan.of(type).Has(Field::kTime));
  }
}

TEST(FieldPlan, SignsChangeTheDefault) {
  const FieldPlan plan = Changed("+srcline,-period");
  EXPECT_TRUE(plan.of(OutputType::kHardware).Has(Field::kSrcline));
  EXPECT_TRUE(plan.of(OutputType::kHardware).Has(Field::kComm));
  EXPECT_FALSE(plan.of(OutputType::kHardware).Has(Field::kPeriod));
}

TEST(FieldPlan, ATypeSelectsTheEvents) {
  const FieldPlan plan = Changed("sw:comm");
  EXPECT_FALSE(plan.of(OutputType::kSoftware).Has(Field::kTime));
  EXPECT_TRUE(plan.of(OutputType::kHardware).Has(Field::kTime));
}

TEST(FieldPlan, WarnsOfFieldsThatATypeCannotHave) {
  Changed("comm,trace");
  EXPECT_THAT(change_warnings,
              testing::Contains("'trace' not valid for hardware events. Ignoring."));
  EXPECT_THAT(FailureOf("hw:trace"), HasSubstr("hardware events have no field trace"));
}

TEST(FieldPlan, RefusesOtherWords) {
  EXPECT_THAT(FailureOf("foo"), HasSubstr("unknown field 'foo'"));
  EXPECT_THAT(FailureOf("foo:comm"), HasSubstr("unknown type of event 'foo'"));
  EXPECT_THAT(FailureOf("comm,+ip"), HasSubstr("+ or -"));
  EXPECT_THAT(FailureOf(""), HasSubstr("at least one"));
  EXPECT_THAT(FailureOf("insn"), HasSubstr("objdump"));
}

TEST(FieldPlan, LeavesOutDefaultFieldsThatTheEventsLack) {
  perfdata::PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid});
  const perfdata::Reader reader = file.Open();
  FieldPlan plan;
  ASSERT_TRUE(plan.Fit(reader.events()).has_value());
  EXPECT_FALSE(plan.of(OutputType::kSoftware).Has(Field::kCpu));
  EXPECT_TRUE(plan.of(OutputType::kSoftware).Has(Field::kIp));
}

TEST(FieldPlan, RefusesAskedFieldsThatTheEventsLack) {
  perfdata::PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid});
  const perfdata::Reader reader = file.Open();
  for (const std::string_view argument : {"comm,cpu", "+addr", "ip,symoff"}) {
    FieldPlan plan = Changed(argument);
    EXPECT_FALSE(plan.Fit(reader.events()).has_value()) << argument;
  }
}

}  // namespace
}  // namespace perftape::listing
