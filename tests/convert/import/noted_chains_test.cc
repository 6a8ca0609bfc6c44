// SPDX-License-Identifier: Apache-2.0
// What the importer learns from the notes of a recording.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::IsEmpty;

// Returns the recording with these notes.
std::string WithNotes(const perfdata::PerfDataBuilder& file, const bundle::RecordingNotes& notes) {
  const TempDir dir;
  const std::string path = dir / "a.data";
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_THAT(WriteAllAt(fd.get(), file.Build(), 0), IsOk());
  const auto offset = bundle::BeginEmbedding(fd.get());
  EXPECT_THAT(offset, IsOk());
  EXPECT_THAT(bundle::WriteNotesArchive(UniqueFd(::dup(fd.get())), notes), IsOk());
  EXPECT_THAT(bundle::EndEmbedding(fd.get(), *offset), IsOk());
  return ReadWholeFile(path).value();
}

TEST(NotedChains, AreThoseOfTheRecorder) {
  const std::string bytes = WithNotes(OneProcess(), {.chains = {{"cycles", "complete", 90},
                                                                {"cycles", "no_row", 9},
                                                                {"cycles", "unreadable", 1},
                                                                {"faults", "no_row", 2}}});
  const ImportReport report = Import(AsBytes(bytes)).report;
  ASSERT_EQ(report.noted_chains.size(), 2U);
  EXPECT_EQ(report.noted_chains.at("cycles").all, 100U);
  EXPECT_EQ(report.noted_chains.at("cycles").complete, 90U);
  EXPECT_EQ(report.noted_chains.at("faults").all, 2U);
  EXPECT_EQ(report.noted_chains.at("faults").complete, 0U);
}

TEST(NotedTrigger, IsThatOfTheFlightRecorder) {
  const std::string bytes = WithNotes(OneProcess(), {.trigger = "load above 8"});
  EXPECT_EQ(Import(AsBytes(bytes)).report.trigger, "load above 8");
  EXPECT_EQ(Import(OneProcess()).report.trigger, "");
}

TEST(NotedChains, AreNoneWithoutNotesAboutThem) {
  EXPECT_THAT(Import(OneProcess()).report.noted_chains, IsEmpty());
  EXPECT_THAT(Import(AsBytes(WithNotes(OneProcess(), {.samples = 7}))).report.noted_chains,
              IsEmpty());
}

TEST(NotedChains, OfDamagedNotesAreIgnored) {
  std::string bytes = WithNotes(OneProcess(), {.chains = {{"cycles", "complete", 90}}});
  for (std::size_t at = OneProcess().Build().size(); at + 64 < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_THAT(Import(AsBytes(damaged)).report.problems, IsEmpty());
  }
}

}  // namespace
}  // namespace perftape::convert
