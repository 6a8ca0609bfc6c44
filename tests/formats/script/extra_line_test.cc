// SPDX-License-Identifier: Apache-2.0
#include "formats/script/extra_line.h"

#include <gtest/gtest.h>

#include <string_view>

namespace perftape::script {
namespace {

TEST(ClassifyExtraLine, KnowsWhatPerfPrintsBesideSamples) {
  for (const std::string_view line :
       {" 0x4005c8/0x4005dc/P/-/-/0  0x40062f/0x4005b0/P/-/-/0 ",
        " 0x4005c8(/bin/a)/0x4005dc(/bin/a)/M/-/-/3/CALL/-  ",
        "f(int)+0x1/g+0x5/P/-/-/0/ h/i/-/X/A/12/",
        "\tbar+0:",
        "\tmain+16:",
        "\t0000000000400580:",
        "\t0000000000400580\tinsn: 55                        # PRED 2 cycles [2] 0.50 IPC",
        "\t... not reaching sample ...",
        " ABI:2    AX:0x40c9708000000000    BX:0x2004c8",
        " insn: 48 89 e5",
        " ilen: 3",
        " \t IPC: 0.50 (10/20) ",
        "|12       return x;",
        "     BPF output: 0000: 68 65 6c 6c 6f",
        "                 0010: 00 00 ",
        "WARNING: The perf.data file's data size field is 0 which is unexpected.",
        "Was the 'perf record' command properly terminated?",
        "Warning:",
        "114 instruction trace errors",
        "Check IO/CPU overload!",
        "         1234a000 4K 2M",
        "[kernel.kallsyms] with build id bb60 not found, continuing without symbols"}) {
    EXPECT_EQ(ClassifyExtraLine(line), ExtraLine::kOrdinary) << line;
  }
}

TEST(ClassifyExtraLine, CountsTraceErrorsAndLostChunks) {
  constexpr std::string_view kError =
      " instruction trace error type 1 time 4525.744123981 cpu 0 pid 7 tid 7 ip 0 code 8: Lost "
      "trace data";
  EXPECT_EQ(ClassifyExtraLine(kError), ExtraLine::kTraceError);
  EXPECT_EQ(ClassifyExtraLine(kError.substr(1)), ExtraLine::kTraceError);
  EXPECT_EQ(MessageOfTraceError(kError), "Lost trace data");
  EXPECT_EQ(MessageOfTraceError(" x trace error type 1"), "x trace error type 1");
  EXPECT_EQ(ClassifyExtraLine("Processed 461 events and lost 2 chunks!"), ExtraLine::kLostChunks);
  EXPECT_EQ(ChunksIn("Processed 461 events and lost 2 chunks!"), 2);
  EXPECT_EQ(ChunksIn("Processed 461 samples and lost 2.00%!"), 0);
}

TEST(ClassifyExtraLine, LeavesOtherLines) {
  for (const std::string_view line : {"WEIRD LINE", "a/b/c", " a/b/P/-/", "main:", "1234a000 4K",
                                      "some other trace error type 1"}) {
    EXPECT_EQ(ClassifyExtraLine(line), ExtraLine::kNone) << line;
  }
}

}  // namespace
}  // namespace perftape::script
