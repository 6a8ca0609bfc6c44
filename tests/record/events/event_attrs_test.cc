// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_attrs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace perftape::record {
namespace {

TEST(CounterAttr, AsksForAFrequency) {
  const perfdata::EventAttr attr =
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99});
  EXPECT_TRUE(attr.Has(perfdata::kFreq));
  EXPECT_EQ(attr.sample_period, 99U);
}

TEST(CounterAttr, AsksForAPeriod) {
  const perfdata::EventAttr attr =
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Period{1'000'000});
  EXPECT_FALSE(attr.Has(perfdata::kFreq));
  EXPECT_EQ(attr.sample_period, 1'000'000U);
}

TEST(CounterAttr, IsTheCpuClockNotYetRunning) {
  const perfdata::EventAttr attr =
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99});
  EXPECT_EQ(attr.type, perfdata::kTypeSoftware);
  EXPECT_EQ(attr.config, perfdata::kSoftwareCpuClock);
  EXPECT_TRUE(attr.Has(perfdata::kDisabled));
  EXPECT_FALSE(attr.Has(perfdata::kExcludeIdle));
}

TEST(SidebandAttr, ReportsWhatProcessesDoFromTheStart) {
  const perfdata::EventAttr attr = SidebandAttr();
  EXPECT_EQ(attr.config, perfdata::kSoftwareDummy);
  for (const perfdata::AttrFlag flag :
       {perfdata::kAttrMmap, perfdata::kAttrMmap2, perfdata::kAttrComm, perfdata::kCommExec,
        perfdata::kTask, perfdata::kAttrKsymbol, perfdata::kAttrBpfEvent}) {
    EXPECT_TRUE(attr.Has(flag)) << flag;
  }
  EXPECT_FALSE(attr.Has(perfdata::kDisabled));
}

TEST(SidebandAttr, ReportsCgroupsAndNamespacesOnlyIfAsked) {
  const perfdata::EventAttr plain = SidebandAttr();
  EXPECT_FALSE(plain.Has(perfdata::kAttrCgroup));
  EXPECT_FALSE(plain.Has(perfdata::kAttrNamespaces));
  const perfdata::EventAttr attr =
      SidebandAttr({.samples_have_cgroups = true, .cgroups = true, .namespaces = true});
  EXPECT_TRUE(attr.Has(perfdata::kAttrCgroup));
  EXPECT_TRUE(attr.Has(perfdata::kAttrNamespaces));
  EXPECT_EQ(attr.sample_type, plain.sample_type | perfdata::kSampleCgroup);
}

// hotspot's perfparser reads the trailers of all events with one attribute.
TEST(SidebandAttr, HasTheTrailerOfTheSamplingEvent) {
  const perfdata::SampleFormat sampling = perfdata::FormatOf(
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99}));
  const perfdata::SampleFormat sideband = perfdata::FormatOf(SidebandAttr());
  EXPECT_EQ(sampling.sample_type, sideband.sample_type);
  EXPECT_EQ(sampling.read_format, sideband.read_format);
  EXPECT_TRUE(sampling.sample_id_all);
  EXPECT_TRUE(sideband.sample_id_all);
}

TEST(SidebandAttr, UsesTheClockOfTheSamples) {
  for (const perfdata::EventAttr& attr :
       {CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99}),
        SidebandAttr()}) {
    EXPECT_TRUE(attr.Has(perfdata::kUseClockid));
    EXPECT_EQ(attr.clockid, CLOCK_MONOTONIC);
  }
}

TEST(AttrForBpf, LeavesOnlyTheCallchainOut) {
  const perfdata::EventAttr in_file =
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99});
  const perfdata::EventAttr opened = AttrForBpf(in_file);
  EXPECT_EQ(opened.sample_type | perfdata::kCallchain, in_file.sample_type);
  EXPECT_NE(opened.sample_type, in_file.sample_type);
}

TEST(AttrForThreads, IsWhatTheKernelAllowsUsers) {
  const perfdata::EventAttr clock =
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99});
  const perfdata::EventAttr attr = AttrForThreads(AttrOfUserCode(clock), Inherit::kYes);
  EXPECT_TRUE(attr.Has(perfdata::kExcludeKernel));
  EXPECT_TRUE(attr.Has(perfdata::kExcludeHv));
  EXPECT_TRUE(attr.Has(perfdata::kInherit));
  EXPECT_EQ(attr.sample_type, clock.sample_type) << "the kernel writes the samples of the file";
  EXPECT_FALSE(AttrForThreads(clock, Inherit::kNo).Has(perfdata::kInherit));
}

TEST(SidebandAttr, ReportsNothingOfTheKernelToUsers) {
  const perfdata::EventAttr attr = SidebandAttr({.only_user_code = true, .inherit = Inherit::kYes});
  EXPECT_TRUE(attr.Has(perfdata::kExcludeKernel));
  EXPECT_TRUE(attr.Has(perfdata::kInherit));
  EXPECT_TRUE(attr.Has(perfdata::kAttrMmap2));
  EXPECT_FALSE(attr.Has(perfdata::kAttrKsymbol));
  EXPECT_FALSE(attr.Has(perfdata::kAttrBpfEvent));
  EXPECT_EQ(attr.sample_type, SidebandAttr().sample_type);
}

TEST(AddUserState, IsWhatPerfAsksForWithDwarf) {
  perfdata::EventAttr attr = TracepointAttr(7, 1);
  AddUserState(16384, attr);
  EXPECT_NE(attr.sample_type & perfdata::kRegsUser, 0U);
  EXPECT_NE(attr.sample_type & perfdata::kStackUser, 0U);
  EXPECT_EQ(attr.sample_stack_user, 16384U);
  EXPECT_TRUE(attr.Has(perfdata::kExcludeCallchainUser));
#if defined(__x86_64__)
  EXPECT_EQ(attr.sample_regs_user, 0xff0fffU);
#endif
}

TEST(AttrForBpf, LeavesRegistersAndStackToTheProgram) {
  perfdata::EventAttr attr = TracepointAttr(7, 1);
  const std::uint64_t without = AttrForBpf(attr).sample_type;
  AddUserState(8192, attr);
  EXPECT_EQ(AttrForBpf(attr).sample_type, without);
}

TEST(SidebandAttr, LeavesBpfProgramsOutIfAsked) {
  EXPECT_TRUE(SidebandAttr().Has(perfdata::kAttrBpfEvent));
  const perfdata::EventAttr attr = SidebandAttr({.bpf_events = false});
  EXPECT_FALSE(attr.Has(perfdata::kAttrBpfEvent));
  EXPECT_TRUE(attr.Has(perfdata::kAttrKsymbol));
}

TEST(SidebandAttr, HasDataMappingsIfAsked) {
  EXPECT_FALSE(SidebandAttr().Has(perfdata::kAttrMmapData));
  EXPECT_TRUE(SidebandAttr({.data_mappings = true}).Has(perfdata::kAttrMmapData));
}

TEST(TimerPeriodNs, IsFixedForAFrequencyToo) {
  EXPECT_EQ(TimerPeriodNs(Frequency{99}), 10'101'010U);
  EXPECT_EQ(TimerPeriodNs(Frequency{1}), 1'000'000'000U);
  EXPECT_EQ(TimerPeriodNs(Period{1'000'000}), 1'000'000U);
}

TEST(TimerPeriodNs, IsNeverBelowTheKernelsShortest) {
  EXPECT_EQ(TimerPeriodNs(Frequency{200'000}), 10'000U);
  EXPECT_EQ(TimerPeriodNs(Period{1}), 10'000U);
  EXPECT_EQ(TimerPeriodNs(Frequency{0}), 1'000'000'000U) << "refused later, not divided by";
}

}  // namespace
}  // namespace perftape::record
