// SPDX-License-Identifier: Apache-2.0
// Several events in one session of the BPF programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "record/bpf/bpf_session.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/events/recorded_events.h"
#include "tests/kernel/live.h"
#include "tests/support/matchers.h"

namespace perftape {
namespace {

constexpr std::int64_t kBurnMs = 100;

using BpfEventsTest = LiveTest;

// A process that burns, touches 200 pages and makes 10 system calls, recorded with three events.
void ExpectThatSamplesNameTheirEvent(record::EventSource source) {
  const auto specs =
      record::ParseEvents("cpu-clock,page-faults/period=1/,syscalls:sys_enter_getppid");
  record::EventPlan plan =
      record::PlanEvents(specs.value(), record::Period{kPeriod}, record::MissingEvents::kFail,
                         record::EventMachine::This())
          .value();
  constexpr std::size_t kPages = 200, kPage = 4096;
  Process process([] {
    Burn(kBurnMs);
    std::vector<char> pages(kPages * kPage);
    for (std::size_t at = 0; at < pages.size(); at += kPage) asm volatile("" ::"r"(pages[at] = 1));
    for (int i = 0; i < 10; ++i) syscall(SYS_getppid);
  });
  record::BpfOptions options = {
      .filter = {.processes = {process.pid()}}, .events = {}, .event_source = source};
  for (const record::PlannedEvent& event : plan.events) {
    options.events.push_back({.cause = event.cause, .settings = event.settings});
  }
  record::BpfSession session = record::BpfSession::Load(options).value();
  record::RecordedEvents events =
      record::RecordedEvents::Open(std::move(plan.events), {}, {}, record::Sampler::kPrograms)
          .value();
  for (std::uint32_t number = 0; const auto& event : events.sampling()) {
    ASSERT_THAT(session.AttachTo(number++, event.on_cpus), IsOk());
  }
  ASSERT_THAT(events.EnableSampling(), IsOk());
  process.Finish();
  session.DetachTracepoints();
  std::vector<int> samples(options.events.size());
  const auto count = [&](Bytes message) {
    wire_sample sample;
    std::memcpy(&sample, message.data(), sizeof sample);
    ++samples.at(sample.event);
    EXPECT_EQ(sample.period, sample.event == 0 ? kPeriod : 1U);
  };
  ASSERT_THAT(session.Drain(count), IsOk());
  EXPECT_GT(samples[0], kBurnMs / 4);
  EXPECT_GE(samples[1], static_cast<int>(kPages));
  EXPECT_EQ(samples[2], 10);
}

TEST_F(BpfEventsTest, NamesTheEventOfASampleByACookie) {
  ExpectThatSamplesNameTheirEvent(record::EventSource::kCookieIfPossible);
}

TEST_F(BpfEventsTest, NamesTheEventOfASampleByProgramsOfTheirOwn) {
  ExpectThatSamplesNameTheirEvent(record::EventSource::kOwnPrograms);
}

}  // namespace
}  // namespace perftape
