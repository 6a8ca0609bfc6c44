// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_events.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <set>
#include <string_view>
#include <utility>

namespace perftape::perfdata {
namespace {

TEST(KernelEvents, HaveEachNumberOnce) {
  std::set<std::pair<std::uint32_t, std::uint64_t>> numbers;
  for (const KernelEvent& event : KernelEvents()) numbers.emplace(event.type, event.config);
  EXPECT_EQ(numbers.size(), KernelEvents().size());
  EXPECT_EQ(numbers.size(), 12U + PERF_COUNT_HW_MAX);  // 12: up to PERF_COUNT_SW_CGROUP_SWITCHES
}

TEST(KernelEvents, HaveEachNameOnce) {
  std::multiset<std::string_view> names;
  for (const KernelEvent& event : KernelEvents()) {
    names.insert(event.name);
    if (!event.alias.empty()) names.insert(event.alias);
  }
  for (const std::string_view name : names) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(KernelEvents, AreFoundByNameAliasAndNumber) {
  const KernelEvent* const switches =
      FindKernelEvent(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
  ASSERT_NE(switches, nullptr);
  EXPECT_EQ(switches->name, "context-switches");
  EXPECT_EQ(FindKernelEvent("context-switches"), switches);
  EXPECT_EQ(FindKernelEvent("cs"), switches);
  EXPECT_EQ(FindKernelEvent("branch-instructions"),
            FindKernelEvent(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
}

TEST(KernelEvents, AreCountedButTwo) {
  EXPECT_FALSE(IsCounted(*FindKernelEvent("dummy")));
  EXPECT_FALSE(IsCounted(*FindKernelEvent("bpf-output")));
  EXPECT_TRUE(IsCounted(*FindKernelEvent("cpu-clock")));
  EXPECT_TRUE(IsCounted(*FindKernelEvent("bus-cycles")));
}

TEST(KernelEvents, AreNotFoundByAnotherName) {
  for (const std::string_view name : {"", "cycles:u", "cycle", "faults"}) {
    EXPECT_EQ(FindKernelEvent(name), nullptr) << name;
  }
  EXPECT_EQ(FindKernelEvent(PERF_TYPE_SOFTWARE, 12), nullptr);
  EXPECT_EQ(FindKernelEvent(PERF_TYPE_TRACEPOINT, 0), nullptr);
}

}  // namespace
}  // namespace perftape::perfdata
