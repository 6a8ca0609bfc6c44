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
                                  .start_ns = 100,
                                  .end_ns = 120,
                                  .lost = {{"cpu-clock", 3, "ring_full", 4}},
                                  .lost_processes = {{"", 1, "sideband_ring", 4}},
                                  .chains = {{"cpu-clock", "complete", 80}},
                                  .absences = {{1, 105, 106}},
                                  .rates = {{0, 1, 0}, {110, 2, 7}}};
  NotesByFile files;
  EXPECT_EQ(files.Next(notes), notes);
  notes.samples = 100;
  notes.end_ns = 150;
  notes.lost[0].count = 6;
  notes.rates.push_back({120, 4, 8});
  const bundle::RecordingNotes second = files.Next(notes);
  EXPECT_EQ(second.samples, 10);
  EXPECT_EQ(second.start_ns, 120);
  EXPECT_EQ(second.end_ns, 150);
  EXPECT_THAT(second.lost, ElementsAre(NotedLoss{"cpu-clock", 3, "ring_full", 2}));
  EXPECT_THAT(second.lost_processes, IsEmpty());
  EXPECT_THAT(second.chains, IsEmpty());
  EXPECT_THAT(second.absences, IsEmpty());
  EXPECT_THAT(second.rates,
              ElementsAre(bundle::NotedRate{110, 2, 7}, bundle::NotedRate{120, 4, 8}));
}

TEST(NotesByFile, HaveThePausesOfTheFilesTime) {
  NotesByFile notes;
  bundle::RecordingNotes so_far;
  so_far.end_ns = 100;
  so_far.pauses = {{"", 2, 30, {{10, 20}, {80, 100}}}};
  EXPECT_EQ(notes.Next(so_far).pauses, so_far.pauses);
  so_far.end_ns = 200;
  so_far.pauses = {{"", 3, 95, {{10, 20}, {80, 160}, {190, 195}}}};
  EXPECT_THAT(notes.Next(so_far).pauses,
              testing::ElementsAre(bundle::NotedPauses{"", 2, 65, {{100, 160}, {190, 195}}}));
  so_far.end_ns = 300;
  EXPECT_THAT(notes.Next(so_far).pauses, testing::IsEmpty());
}

TEST(NotesByFile, BeginWithTheLastReadingsOfTheFileBefore) {
  bundle::NotedCgroup app{.path = "/app", .first = {.time_ns = 1, .periods = 10}};
  app.last = {.time_ns = 2, .periods = 20};
  app.io_limits = {{"7:0", "wbps", 1000, 5, 6}};
  NotesByFile files;
  EXPECT_THAT(files.Next({.cgroups = {app}}).cgroups, ElementsAre(app));
  bundle::NotedCgroup later = app;
  later.last = {.time_ns = 3, .periods = 50};
  later.io_limits[0].last = 9;
  bundle::NotedCgroup expected = later;
  expected.first = app.last;
  expected.io_limits[0].first = 6;
  EXPECT_THAT(files.Next({.cgroups = {later}}).cgroups, ElementsAre(expected));
}

TEST(NotesByFile, HaveTheCallsOfTheFilesTime) {
  bundle::RecordingNotes notes;
  notes.latency = {{.probe = "read",
                    .pid = 7,
                    .count = 2,
                    .sum_ns = 1100,
                    .max_ns = 1030,
                    .errors = {{9, 1}},
                    .buckets = {{26, 1}, {36, 1}}}};
  NotesByFile files;
  EXPECT_EQ(files.Next(notes), notes);
  EXPECT_THAT(files.Next(notes).latency, IsEmpty());
  bundle::NotedLatency& all = notes.latency[0];
  all.count = 4;
  all.sum_ns = 1250;
  all.errors = {{9, 1}, {11, 2}};
  all.buckets = {{26, 3}, {36, 1}};
  const bundle::RecordingNotes third = files.Next(notes);
  EXPECT_THAT(third.latency, ElementsAre(bundle::NotedLatency{.probe = "read",
                                                              .pid = 7,
                                                              .count = 2,
                                                              .sum_ns = 150,
                                                              .max_ns = 223,
                                                              .errors = {{11, 2}},
                                                              .buckets = {{26, 2}}}));
}

}  // namespace
}  // namespace perftape::record
