// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/tracing_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::rewrite {
namespace {

using perfdata::Event;
using testing::HasSubstr;

Event Tracepoint(std::string name, std::uint64_t id) {
  Event event;
  event.attr.type = perfdata::kTypeTracepoint;
  event.attr.config = id;
  event.name = std::move(name);
  return event;
}

std::vector<std::byte> SectionFor(std::span<const Event> events) {
  std::vector<std::byte> section;
  perfdata::EncodeFeature(MakeTracingData(events), section);
  return section;
}

TEST(TracingData, ListsNamesAndIdsOfTracepoints) {
  const Event events[] = {Tracepoint("sched:sched_switch", 316), Tracepoint("tracepoint:77", 77)};
  const std::vector<std::byte> section = SectionFor(events);
  EXPECT_TRUE(IsTracingData(section));
  EXPECT_THAT(AsText(section), HasSubstr("name: sched_switch\nID: 316\n"));
  EXPECT_THAT(AsText(section), HasSubstr("name: tracepoint_77\nID: 77\n"));
}

TEST(TracingData, WritesNoNameThatWouldBreakItsText) {
  const Event events[] = {Tracepoint("sched:a\nID: 1", 316)};
  EXPECT_THAT(AsText(SectionFor(events)), HasSubstr("name: tracepoint_316\nID: 316\n"));
}

// The last eight bytes, saved_cmdlines, are optional: old perfs do not write them.
TEST(TracingData, IsNotWholeWhereItIsCut) {
  const Event events[] = {Tracepoint("sched:sched_switch", 316)};
  const std::vector<std::byte> section = SectionFor(events);
  for (std::size_t cut = 0; cut + 8 < section.size(); ++cut) {
    EXPECT_FALSE(IsTracingData(Bytes(section).first(cut))) << cut;
  }
}

TEST(TracingData, HasItsMagic) {
  const Event events[] = {Tracepoint("sched:sched_switch", 316)};
  std::vector<std::byte> section = SectionFor(events);
  section[0] = std::byte{0};
  EXPECT_FALSE(IsTracingData(section));
}

}  // namespace
}  // namespace perftape::rewrite
