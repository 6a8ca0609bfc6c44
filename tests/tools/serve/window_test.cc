// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/window.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/file.h"
#include "tests/support/matchers.h"

namespace perftape::serve {
namespace {

ImportedWindow Example() {
  ImportedWindow window = {.window = {.start_ns = 5, .end_ns = 9, .profile = {}},
                           .recorder_cpu_ns = 11,
                           .importer_cpu_ns = 12,
                           .failed_windows = 13};
  window.window.profile.resize(300, std::byte{7});
  window.notes.samples = 42;
  window.notes.lost = {{.event = "cpu-clock", .cpu = 1, .cause = "ring_full", .count = 3}};
  return window;
}

UniqueFd FileWith(const ImportedWindow& window) {
  UniqueFd fd(memfd_create("windows", MFD_CLOEXEC));
  EXPECT_TRUE(WriteWindow(fd.get(), window));
  return fd;
}

TEST(Window, ReadsWhatWasWritten) {
  const UniqueFd fd = FileWith(Example());
  lseek(fd.get(), 0, SEEK_SET);
  const Result<std::optional<ImportedWindow>> read = ReadWindow(fd.get());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->window.start_ns, 5);
  EXPECT_EQ((*read)->window.end_ns, 9);
  EXPECT_EQ((*read)->window.profile, Example().window.profile);
  EXPECT_EQ((*read)->notes, Example().notes);
  EXPECT_EQ((*read)->recorder_cpu_ns, 11);
  EXPECT_EQ((*read)->importer_cpu_ns, 12);
  EXPECT_EQ((*read)->failed_windows, 13);
  const auto end = ReadWindow(fd.get());
  EXPECT_TRUE(end && !*end);
}

TEST(Window, FailsIfTheStreamEndsInside) {
  const UniqueFd fd = FileWith(Example());
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  for (off_t cut = size - 1; cut > 0; cut -= 7) {
    ASSERT_EQ(ftruncate(fd.get(), cut), 0);
    lseek(fd.get(), 0, SEEK_SET);
    const auto read = ReadWindow(fd.get());
    ASSERT_FALSE(read) << cut;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << cut;
  }
}

TEST(Window, RefusesOtherBytes) {
  const UniqueFd fd(memfd_create("windows", MFD_CLOEXEC));
  ASSERT_TRUE(WriteAll(fd.get(), std::vector(200, std::byte{0xff})));
  lseek(fd.get(), 0, SEEK_SET);
  EXPECT_EQ(ReadWindow(fd.get()).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace perftape::serve
