// SPDX-License-Identifier: Apache-2.0
#include "record/output/notes_by_file.h"

#include <gmock/gmock.h>

namespace perftape::record {
namespace {

using bundle::NotedLoss;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(NotesByFile, HaveTheNumbersOfTheFilesTime) {
  bundle::RecordingNotes notes = {.samples = 90,
                                  .lost = {{"cpu-clock", 3, "ring_full", 4}},
                                  .lost_processes = {{"", 1, "sideband_ring", 4}},
                                  .chains = {{"cpu-clock", "complete", 80}},
                                  .absences = {{1, 105, 106}},
                                  .rates = {{0, 1, 0}, {110, 2, 7}}};
  NotesByFile files;
  EXPECT_EQ(files.Next(notes), notes);
  notes.samples = 100;
  notes.lost[0].count = 6;
  notes.rates.push_back({120, 4, 8});
  const bundle::RecordingNotes second = files.Next(notes);
  EXPECT_EQ(second.samples, 10);
  EXPECT_THAT(second.lost, ElementsAre(NotedLoss{"cpu-clock", 3, "ring_full", 2}));
  EXPECT_THAT(second.lost_processes, IsEmpty());
  EXPECT_THAT(second.chains, IsEmpty());
  EXPECT_THAT(second.absences, IsEmpty());
  EXPECT_THAT(second.rates,
              ElementsAre(bundle::NotedRate{110, 2, 7}, bundle::NotedRate{120, 4, 8}));
}

}  // namespace
}  // namespace perftape::record
