// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/latency_probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {
namespace {

TEST(LatencyProbes, HaveNamesAndEventsOfTheirOwn) {
  std::set<std::string_view> names, events;
  for (const LatencyProbe& probe : LatencyProbes()) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name;
    EXPECT_TRUE(events.insert(probe.event).second) << probe.event;
    std::string event = std::string(kLatencyPrefix) + std::string(probe.name);
    std::ranges::replace(event, '-', '_');
    EXPECT_EQ(probe.event, event);
    EXPECT_EQ(FindLatencyProbe(probe.name), &probe);
    EXPECT_EQ(FindLatencyEvent(probe.event), &probe);
    EXPECT_EQ(LatencyProbeName(probe.event), probe.name);
    EXPECT_EQ(LatencyEventName(probe.name), probe.event);
  }
}

TEST(LatencyProbes, ASingleSystemCallHasTheRowOfAll) {
  const LatencyProbe* const all = FindLatencyProbe("syscall");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(FindLatencyProbe("syscall=openat"), all);
  EXPECT_EQ(FindLatencyEvent("latency:syscall_openat"), all);
  EXPECT_EQ(LatencyEventName("syscall=pread64"), "latency:syscall_pread64");
  EXPECT_EQ(LatencyProbeName("latency:syscall_pread64"), "syscall=pread64");
  EXPECT_EQ(FindLatencyProbe("syscall="), nullptr);
  EXPECT_EQ(FindLatencyProbe("reads"), nullptr);
  EXPECT_EQ(FindLatencyEvent("latency:reads"), nullptr);
  EXPECT_EQ(LatencyProbeName("sched:sched_switch"), "");
}

TEST(LatencyProbes, ReadersParseTheirFormats) {
  for (const LatencyProbe& probe : LatencyProbes()) {
    const auto format = ParseTracepointFormat(LatencyFormat(probe, probe.event, 65300));
    ASSERT_TRUE(format.has_value()) << probe.name;
    EXPECT_EQ(std::string(kLatencyPrefix) + format->name, probe.event);
    EXPECT_EQ(format->id, 65300U);
    for (const LatencyField& field : probe.fields) {
      const TracepointField* const parsed = format->Find(field.name);
      ASSERT_NE(parsed, nullptr) << probe.name << " " << field.name;
      EXPECT_EQ(parsed->offset, field.offset);
      EXPECT_EQ(parsed->size, field.size);
      EXPECT_LE(field.offset + field.size, kLatencyTextOffset);
      const bool is_text = parsed->storage == TracepointField::Storage::kDataLocation;
      EXPECT_EQ(is_text, field.print == "%s");
      if (is_text) {
        EXPECT_EQ(parsed->content, TracepointField::Content::kText);
      } else if (field.name != "peer") {
        EXPECT_EQ(parsed->content == TracepointField::Content::kSigned, field.is_signed);
      }
    }
  }
}

TEST(LatencyProbes, PrintTheirFieldsAsTheKernelDoes) {
  const LatencyProbe& read = *FindLatencyProbe("read");
  const std::string format = LatencyFormat(read, read.event, 65285);
  EXPECT_TRUE(format.starts_with("name: read\nID: 65285\nformat:\n")) << format;
  EXPECT_TRUE(format.ends_with(
      "print fmt: \"error=%d fd=%d dev=%d,%d ino=%llu file=%s\", REC->error, REC->fd, "
      "((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), "
      "REC->ino, __get_str(file)\n"))
      << format;
}

}  // namespace
}  // namespace perftape::perfdata
