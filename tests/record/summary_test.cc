// SPDX-License-Identifier: Apache-2.0
#include "record/summary.h"

#include <gmock/gmock.h>

namespace perftape::record {
namespace {

using bundle::NotedLoss;
using testing::ElementsAre;

RecordSummary Summary() {
  RecordSummary summary;
  summary.losses.start_ns = 100;
  summary.output.counts.samples = 90;
  summary.losses.damaged_messages = 1;
  summary.output.counts.unwritten_samples = 2;
  summary.output.counts.unwritten_process_events = 1;
  summary.output.counts.sideband_losses = {{1, 4}};
  summary.losses.events = {
      {.name = "cpu-clock", .losses = {{.cpu = 3, .ring_full = 4, .late = 1}}}};
  summary.losses.events[0].chains.ends[WIRE_END_OF_STACK] = 80;
  summary.losses.events[0].chains.ends[WIRE_END_NO_TABLE] = 10;
  summary.losses.absences = {{.cpu = 1, .from_ns = 5, .until_ns = 6}};
  return summary;
}

TEST(NotesOf, HaveEachLossOnce) {
  const bundle::RecordingNotes notes = NotesOf(Summary());
  EXPECT_EQ(notes.samples, 90);
  EXPECT_THAT(
      notes.lost,
      ElementsAre(NotedLoss{"cpu-clock", 3, "ring_full", 4}, NotedLoss{"cpu-clock", 3, "late", 1},
                  NotedLoss{"", -1, "damaged", 1}, NotedLoss{"", -1, "unwritten", 2}));
  EXPECT_THAT(notes.lost_processes,
              ElementsAre(NotedLoss{"", 1, "sideband_ring", 4}, NotedLoss{"", -1, "unwritten", 1}));
  EXPECT_THAT(notes.chains, ElementsAre(bundle::NotedChains{"cpu-clock", "complete", 80},
                                        bundle::NotedChains{"cpu-clock", "no_table", 10}));
  EXPECT_THAT(notes.absences, ElementsAre(bundle::NotedAbsence{1, 105, 106}));
}

}  // namespace
}  // namespace perftape::record
