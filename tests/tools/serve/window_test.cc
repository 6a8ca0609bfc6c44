// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/window.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/file.h"
#include "tests/support/matchers.h"
#include "tools/serve/channels/channel.h"

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

// What the other end of a channel gets.
Notice NoticeWith(const ImportedWindow& window) {
  const Channel channel = MakeChannel(ChannelKind::kMessages).value();
  EXPECT_TRUE(SendWindow(channel.sender.get(), window));
  return ReceiveNotice(channel.receiver.get()).value();
}

TEST(Window, ArrivesAsItWasSent) {
  const Result<ImportedWindow> read = WindowIn(NoticeWith(Example()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->window.start_ns, 5);
  EXPECT_EQ(read->window.end_ns, 9);
  EXPECT_EQ(read->window.profile, Example().window.profile);
  EXPECT_EQ(read->notes, Example().notes);
  EXPECT_EQ(read->recorder_cpu_ns, 11);
  EXPECT_EQ(read->importer_cpu_ns, 12);
  EXPECT_EQ(read->failed_windows, 13);
}

TEST(Window, FailsIfItsFileEndsInside) {
  const Notice notice = NoticeWith(Example());
  const off_t size = lseek(notice.file.get(), 0, SEEK_END);
  for (off_t cut = size - 1; cut > 0; cut -= 7) {
    ASSERT_EQ(ftruncate(notice.file.get(), cut), 0);
    const auto read = WindowIn(notice);
    ASSERT_FALSE(read) << cut;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << cut;
  }
}

TEST(Window, RefusesOtherBytes) {
  const Notice notice = {.kind = Notice::Kind::kWindow,
                         .file = UniqueFd(memfd_create("windows", MFD_CLOEXEC))};
  ASSERT_TRUE(WriteAll(notice.file.get(), std::vector(200, std::byte{0xff})));
  EXPECT_EQ(WindowIn(notice).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace perftape::serve
