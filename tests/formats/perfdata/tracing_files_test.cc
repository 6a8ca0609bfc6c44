// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/tracing_files.h"

#include <gmock/gmock.h>

#include "formats/perfdata/features.h"
#include "tests/support/tracing_data.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TracingFiles SomeFiles() {
  return {.header_page = "page",
          .header_event = "event",
          .ftrace_formats = {"function"},
          .subsystems = {{"irq", {"enter", "exit"}}, {"sched", {"switch"}}},
          .kallsyms = "k",
          .printk_formats = "formats",
          .saved_cmdlines = "1 init"};
}

TEST(TracingFiles, AreReadAsTheyWereWritten) {
  const std::vector<std::byte> bytes = EncodeTracingFiles(SomeFiles());
  const auto [files, is_complete] = DecodeTracingFiles(bytes, std::endian::native);
  EXPECT_TRUE(is_complete);
  EXPECT_EQ(files.header_page, "page");
  EXPECT_EQ(files.header_event, "event");
  EXPECT_THAT(files.ftrace_formats, ElementsAre("function"));
  ASSERT_THAT(files.subsystems, SizeIs(2));
  EXPECT_EQ(files.subsystems[0].name, "irq");
  EXPECT_THAT(files.subsystems[0].formats, ElementsAre("enter", "exit"));
  EXPECT_THAT(files.subsystems[1].formats, ElementsAre("switch"));
  EXPECT_EQ(files.kallsyms, "k");
  EXPECT_EQ(files.printk_formats, "formats");
  EXPECT_EQ(files.saved_cmdlines, "1 init");
}

TEST(TracingFiles, AreReadInEitherByteOrder) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const auto section = TracingDataOf({{"power", {kWakeFormat}}}, order);
    const auto value = DecodeFeature(FeatureBit::kTracingData, section, std::endian::native, 0);
    ASSERT_TRUE(value);
    const auto& head = std::get<TracingData>(*value);
    EXPECT_EQ(head.order, order);
    const auto [files, is_complete] = DecodeTracingFiles(head.formats, head.order);
    EXPECT_TRUE(is_complete);
    ASSERT_THAT(files.subsystems, SizeIs(1));
    EXPECT_THAT(files.subsystems[0].formats, ElementsAre(kWakeFormat));
  }
}

TEST(TracingFiles, AreIncompleteWhereTheyAreCut) {
  const std::vector<std::byte> bytes = EncodeTracingFiles(SomeFiles());
  const std::size_t optional = sizeof(std::uint64_t) + SomeFiles().saved_cmdlines.size();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const auto decoded = DecodeTracingFiles(Bytes(bytes).first(size), std::endian::native);
    EXPECT_EQ(decoded.is_complete, size >= bytes.size() - optional) << size;
  }
}

TEST(TracingFiles, BeforeTheCutAreWhole) {
  const std::vector<std::byte> bytes = EncodeTracingFiles(SomeFiles());
  const std::size_t cut = AsText(bytes).find("switch");
  const auto decoded = DecodeTracingFiles(Bytes(bytes).first(cut), std::endian::native);
  ASSERT_THAT(decoded.files.subsystems, SizeIs(2));
  EXPECT_THAT(decoded.files.subsystems[0].formats, ElementsAre("enter", "exit"));
  EXPECT_THAT(decoded.files.subsystems[1].formats, ElementsAre(""));
}

}  // namespace
}  // namespace perftape::perfdata
