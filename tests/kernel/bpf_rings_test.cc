// SPDX-License-Identifier: Apache-2.0
// Several ring buffers, as on a machine with many CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <set>
#include <thread>

#include "record/machine/cpu_list.h"
#include "record/rings/ring_plan.h"
#include "tests/kernel/live.h"

namespace perftape {
namespace {

using testing::ElementsAreArray;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::SizeIs;

using BpfRingsTest = LiveTest;

constexpr std::size_t kManyCpus = 64;
constexpr std::int64_t kBurnMs = 100;
constexpr std::size_t kPlausible = kBurnMs / 2;

void BurnOnCpu(int cpu) {
  PinTo(cpu);
  Burn(kBurnMs);
}

// Options as for 64 CPUs, of which this machine has the first.
record::BpfOptions OptionsFor(pid_t pid, std::optional<std::size_t> ring_bytes = {}) {
  const record::RingPlan plan =
      record::PlanRings(kManyCpus, 1000, 0, record::kLeastRing, ring_bytes);
  return {.filter = {.processes = {pid}}, .ring_bytes = plan.bytes, .rings = plan.rings};
}

std::set<int> CpusOf(const std::vector<LiveSample>& samples) {
  std::set<int> cpus;
  for (const LiveSample& sample : samples) cpus.insert(sample.fields.header.cpu);
  return cpus;
}

TEST_F(BpfRingsTest, DrainTheSamplesOfAllCpus) {
  const std::vector<int> cpus = record::OnlineCpus().value();
  Process process([&] { std::ranges::for_each(cpus, BurnOnCpu); });
  LiveRecording recording(OptionsFor(process.pid()));
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_THAT(CpusOf(samples), ElementsAreArray(cpus));
  EXPECT_THAT(samples, SizeIs(Ge(cpus.size() * kPlausible)));
  EXPECT_EQ(recording.ring_full(), 0U);
}

TEST_F(BpfRingsTest, AreFullEachForItself) {
  const std::vector<int> cpus = record::OnlineCpus().value();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU";
  constexpr std::size_t kSmallest = 65536;  // a page on every machine
  // Only the second CPU, so that the first ring stays empty.
  Process process([&] {
    for (int round = 0; round < 10; ++round) BurnOnCpu(cpus[1]);
  });
  record::BpfOptions options = OptionsFor(process.pid(), kSmallest);
  options.rings = 2;
  LiveRecording recording(options);
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_THAT(samples, SizeIs(Le(kSmallest / sizeof(wire_sample))));
  EXPECT_THAT(samples.size() + recording.ring_full(), Ge(10 * kPlausible));
}

TEST_F(BpfRingsTest, WakeTheReaderOnEachCpu) {
  const std::vector<int> cpus = record::OnlineCpus().value();
  for (const int cpu : cpus) {
    Process process([&] {
      for (int round = 0; round < 4; ++round) BurnOnCpu(cpu);
    });
    record::BpfOptions options = OptionsFor(process.pid(), 4096 * 16);
    LiveRecording recording(options);
    std::thread finish([&] { process.Finish(); });
    pollfd ring = {.fd = recording.session().poll_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ring, 1, -1), 1) << cpu;
    finish.join();
    EXPECT_THAT(recording.Stop().size(), Gt(0U));
  }
}

}  // namespace
}  // namespace perftape
