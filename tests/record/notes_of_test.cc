// SPDX-License-Identifier: Apache-2.0
#include "record/notes_of.h"

#include <gmock/gmock.h>

namespace perftape::record {
namespace {

using bundle::NotedLoss;
using testing::ElementsAre;

RecordSummary Summary() {
  RecordSummary summary;
  summary.start_ns = 100;
  summary.samples = 90;
  summary.damaged_messages = 1;
  summary.unwritten_samples = 2;
  summary.lost_process_events = 5;
  summary.sideband_losses = {{1, 4}};
  summary.events = {{.name = "cpu-clock", .losses = {{.cpu = 3, .ring_full = 4, .late = 1}}}};
  summary.events[0].chain_ends[WIRE_END_OF_STACK] = 80;
  summary.events[0].chain_ends[WIRE_END_NO_TABLE] = 10;
  summary.absences = {{.cpu = 1, .from_ns = 5, .until_ns = 6}};
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
