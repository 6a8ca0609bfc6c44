// SPDX-License-Identifier: Apache-2.0
#include "formats/script/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/bytes_input.h"
#include "tests/support/stdin_from.h"

namespace perftape::script {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  std::vector<std::string> samples;  // "comm event: leaf<caller"
  ReaderCounts counts;
};

Read ReadAll(Input& input) {
  Read read;
  Reader reader(input);
  for (Sample sample; reader.Next(sample);) {
    std::string text = fmt::format("{} {}:", sample.head.comm, sample.head.event);
    for (const Frame& frame : sample.frames) {
      text += fmt::format("{}{}", &frame == sample.frames.data() ? " " : "<", frame.symbol);
      if (frame.source_line != 0) text += fmt::format("@{}", frame.source_line);
    }
    read.samples.push_back(text);
  }
  read.counts = reader.counts();
  return read;
}

Read ReadText(std::string_view text) {
  BytesInput input(AsBytes(text));
  return ReadAll(input);
}

constexpr std::string_view kText =
    "# ========\n# hostname : a\n# ========\n#\n"
    "sh 7 1.000000: 5 cycles: \n\t 2 f+0x1 (/x)\n\t 1 main (/x)\n\n"
    "     migration/0    16 [000]    33.465933:    3344481 cpu-clock:  ffffffffb240e6c9 g+0x19 "
    "([k])\n"
    "my prog 7 2.000000: 5 cycles: \n\n"
    "sh 7 3.000000: PERF_RECORD_LOST lost 461\n"
    "sh 7 4.000000: 5 cycles: \n\t 2 h (/x)\n";

TEST(Reader, ReadsTheSamplesOfAText) {
  const Read read = ReadText(kText);
  EXPECT_THAT(read.samples, ElementsAre("sh cycles: f<main", "migration/0 cpu-clock: g",
                                        "my prog cycles:", "sh cycles: h"));
  EXPECT_EQ(read.counts.bad_lines, 0);
  EXPECT_EQ(read.counts.records, 1);
  EXPECT_EQ(read.counts.lost_records, 461);
}

TEST(Reader, ReadsAStreamAsItReadsAFile) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += kText.substr(kText.find("sh"));
  const Read of_file = ReadText(text);
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Input stream = Input::Open("-").value();
  ASSERT_TRUE(stream.is_stream());
  EXPECT_EQ(ReadAll(stream).samples, of_file.samples);
  EXPECT_EQ(of_file.samples.size(), 80'000);
}

TEST(Reader, ReadsATextThatIsCutAnywhere) {
  for (std::size_t size = 0; size <= kText.size(); ++size) {
    const Read read = ReadText(kText.substr(0, size));
    EXPECT_LE(read.samples.size(), 4U);
    EXPECT_LE(read.counts.bad_lines, 1U) << size;  // at most the line that is cut
  }
}

TEST(Reader, BeginsASampleWithoutAnEmptyLine) {
  EXPECT_THAT(ReadText("a1 7 1.0: e: \n\t 1 f (/x)\na2 7 2.0: e: \n  b 3 7 3.0: e: \n\t 1 g (/x)\n")
                  .samples,
              ElementsAre("a1 e: f", "a2 e:", "b 3 e: g"));
}

TEST(Reader, ReadsSourceLines) {
  EXPECT_THAT(
      ReadText("sh 7 1.0: e: \n\t 1 f (/x)\n  prog.c:12\n\t 1 g\n  x.c:3 (inlined)\n").samples,
      ElementsAre("sh e: f@12<g@3"));
}

TEST(Reader, SkipsRecordsOfSeveralLines) {
  const Read read = ReadText(
      "sh 7 1.0: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\n\t\t[0/net: 4/0xf0000000, 1/uts]\n"
      "0 0 0x1d0 [0x8]: PERF_RECORD_FINISHED_ROUND\n"
      "sh 7 1.0: PERF_RECORD_LOST_SAMPLES lost 3\nsh 7 1.0: e: \n");
  EXPECT_THAT(read.samples, ElementsAre("sh e:"));
  EXPECT_EQ(read.counts.bad_lines, 0);
  EXPECT_EQ(read.counts.records, 3);
  EXPECT_EQ(read.counts.lost_samples, 3);
}

TEST(Reader, ReadsFramesWithoutIndentation) {
  const std::string_view text =
      "java 7 cycles:\nffffffff8103d0ca f ([kernel.kallsyms])\n7f72 a.b (inlined)\n"
      "7f72 main (/bin/x)\nx.c:7\n\njava 8 cycles:\n7f73 g (/bin/x)\n";
  EXPECT_THAT(ReadText(text).samples, ElementsAre("java cycles: f<a.b<main@7", "java cycles: g"));
  EXPECT_EQ(ReadText(text).counts.bad_lines, 0);
  EXPECT_TRUE(IsScript(text));
}

TEST(Reader, SkipsWhatOtherFieldsPrint) {
  const Read read = ReadText(
      "WARNING: The perf.data file's data size field is 0 which is unexpected.\n"
      "Was the 'perf record' command properly terminated?\n"
      "sh 7 1.0: 5 cycles: \n\t 2 f+0x1 (/x)\n 0x4005c8/0x4005dc/P/-/-/0 \n"
      "sh 7 2.0: 5 cycles: \n\t 2 g+0x1 (/x)\n\n\tbar+0:\n"
      "\t0000000000400580\tinsn: 55\n\n"
      "sh 7 2.0: \tmetric:      0.50  insn per cycle\n"
      "sh 7 3.0: 5 cycles: \n\t 2 h+0x1 (/x)\n insn: 48 89\n");
  EXPECT_THAT(read.samples, ElementsAre("sh cycles: f", "sh cycles: g", "sh cycles: h"));
  EXPECT_EQ(read.counts.bad_lines, 0);
}

TEST(Reader, ReadsSamplesWithAThreadOnly) {
  const Read read = ReadText("sh     7 \n\t 2 f (/x)\n\nsh    8 \n\t 3 g (/x)\n");
  EXPECT_THAT(read.samples, ElementsAre("sh : f", "sh : g"));
  EXPECT_EQ(read.counts.bad_lines, 0);
}

TEST(Reader, SkipsTheDumpOfRecords) {
  const Read read = ReadText(
      "0x5838@perf.data [0x88]: event: 1\n.\n. ... raw event: size 136 bytes\n"
      ".  0000:  01 00 00 00  ....\n\n"
      "0 2488437657339 0x26228 [0x220]: PERF_RECORD_SAMPLE(IP, 0x1): 7/7: 0xffffffff81068283 "
      "period: 1495736 addr: 0\n... FP chain: nr:2\n.....  0: ffffffffffffff80\n"
      " ... thread: perf:7\n ...... dso: [kernel.kallsyms]\n"
      "perf  7 [000]  2488.437657:    1495736 cycles: \n\tffffffff81068283 f "
      "([kernel.kallsyms])\n");
  EXPECT_THAT(read.samples, ElementsAre("perf cycles: f"));
  EXPECT_EQ(read.counts.bad_lines, 0);
}

TEST(Reader, CountsTraceErrors) {
  const Read read = ReadText(
      " instruction trace error type 1 time 1.5 cpu 0 pid 7 tid 7 ip 0 code 8: Lost trace data\n"
      "sh 7 1.0: 5 cycles: \n\t 2 f+0x1 (/x)\n\n"
      " instruction trace error type 1 time 1.7 cpu 0 pid 7 tid 7 ip 0 code 7: Overflow packet\n"
      "sh 7 2.0: 5 cycles: \n\t 2 g+0x1 (/x)\n");
  EXPECT_THAT(read.samples, ElementsAre("sh cycles: f", "sh cycles: g"));
  EXPECT_EQ(read.counts.bad_lines, 0);
  EXPECT_EQ(read.counts.trace_errors, 2);
  EXPECT_EQ(read.counts.first_trace_error, "Lost trace data");
}

// perf script -F ip,sym; -F comm,ip,sym; -F time,event,ip,sym,dso
TEST(Reader, ReadsSamplesWithFewFields) {
  const Read bare =
      ReadText("\n\tffffffff81000002 f\n\t          401136 main\n\n\n\t          401136 main\n\n");
  EXPECT_THAT(bare.samples, ElementsAre(" : f<main", " : main"));
  EXPECT_EQ(bare.counts.bad_lines, 0);
  const Read comms = ReadText("sh \n\tffffffff81000002 f\n\nmy prog \n\t          401136 main\n\n");
  EXPECT_THAT(comms.samples, ElementsAre("sh : f", "my prog : main"));
  EXPECT_EQ(comms.counts.bad_lines, 0);
  const Read times = ReadText(" 1.500000: cycles: \n\t          401136 main (/x)\n\n");
  EXPECT_THAT(times.samples, ElementsAre(" cycles: main"));
  const Read periods = ReadText("   1001001 \n\t          401136 main\n\n");
  EXPECT_THAT(periods.samples, ElementsAre(" : main"));
}

TEST(Reader, CountsALineWithFewFieldsThatNoFrameFollows) {
  const Read read = ReadText("sh \nsh \n\nsh \n\t          401136 main\n\nsh\n");
  EXPECT_THAT(read.samples, ElementsAre("sh : main"));
  EXPECT_EQ(read.counts.bad_lines, 3);
  EXPECT_EQ(read.counts.first_bad_line, 1);
}

TEST(Reader, CountsLinesThatItDoesNotKnow) {
  const Read read = ReadText(
      "sh 7 1.0: e: \n\t 1 f (/x)\n  WEIRD LINE\n\nwhat is this\n\t 1 lost (/x)\nsh 7 2.0: e: \n");
  EXPECT_THAT(read.samples, ElementsAre("sh e: f", "sh e:"));
  EXPECT_EQ(read.counts.bad_lines, 3);
  EXPECT_EQ(read.counts.first_bad_line, 3);
}

TEST(Reader, CountsALineThatIsTooLong) {
  const Read read = ReadText("sh 7 1.0: e: \n\t 1 " + std::string(Lines::kLongest, 'f') +
                             " (/x)\nbad\n\t 2 g (/x)\n");
  EXPECT_THAT(read.samples, ElementsAre("sh e: g"));
  EXPECT_EQ(read.counts.bad_lines, 2);
  EXPECT_EQ(read.counts.first_bad_line, 2);
}

TEST(Reader, LimitsTheFramesOfASample) {
  std::string text = "sh 7 1.0: e: \n";
  for (std::size_t i = 0; i < Reader::kMostFrames + 5; ++i) text += "\t 1 f (/x)\n";
  BytesInput input(AsBytes(text));
  Reader reader(input);
  Sample sample;
  ASSERT_TRUE(reader.Next(sample));
  EXPECT_EQ(sample.frames.size(), Reader::kMostFrames);
  EXPECT_EQ(reader.counts().bad_lines, 5);
  EXPECT_EQ(reader.counts().first_bad_line, Reader::kMostFrames + 2);
}

TEST(Reader, ALineThatBeginsWithANumberSignIsAComment) {
  const Read read = ReadText(
      "# cmdline : perf record -- sleep 10 \n# node0 meminfo 7 \n"
      "#!sh 12 [000] 1.0: 1 cycles: \n\t          401000 main (/bin/x)\n\n");
  EXPECT_THAT(read.samples, ElementsAre("#!sh cycles: main"));
  EXPECT_EQ(read.counts.bad_lines, 0);
}

TEST(Reader, FieldsOfAMemoryAccessAreNoFrames) {
  const std::string head =
      "prog 7 1.0: 1000 mem:P:      7ffe0123456        68100142 |OP LOAD|LVL L1 hit|BLK  N/A      "
      "        33";
  EXPECT_THAT(
      ReadText(head + "\n\t            1136 load+0x16 (/bin/x)\n        12345000 4K 2M\n").samples,
      ElementsAre("prog mem:P: load"));
  EXPECT_THAT(ReadText(head + "           401136 load+0x16 (/bin/x)        12345000\n").samples,
              ElementsAre("prog mem:P: load"));
  EXPECT_THAT(ReadText("prog 7 1.0: 1 cycles:            401138 [unknown] (/bin/x) 0x401100 "
                       "(/bin/x)/0x401130 (/bin/x)/-/-/-/0//- \n")
                  .samples,
              ElementsAre("prog cycles: [unknown]"));
}

TEST(IsScript, RejectsTheStacksOfBpftrace) {
  EXPECT_FALSE(IsScript("\n@[\n\tffffffff816d6a0f ksys_read+111\n]: 4\n"));
}

TEST(IsScript, RecognizesTexts) {
  for (const std::string_view text :
       {kText, std::string_view("# ========\n# captured on    : Mon\n"),
        std::string_view("java 12688/12764 6544038.708352: cpu-clock:\n"),
        std::string_view(
            "     migration/0    16 [000]    33.465933:    3344481 cpu-clock:  ffb2 f ([k])\n"),
        std::string_view("prog  7 cycles: \n\t          401136 main (/bin/prog)\n\n"),
        std::string_view(
            "\t 401136 main (/bin/prog)\n\nmy prog 7 [001]   12.678901234: 1 cycles: \n"),
        std::string_view("prog     7 \n\t          401136 main (/bin/prog)\n\n"),
        std::string_view("\n\t          401136 main\n\n"),
        std::string_view("prog \n\tffffffff81000002 f\n\n"),
        std::string_view("sh 7 1.0: PERF_RECORD_COMM: sh:7/7\n")}) {
    EXPECT_TRUE(IsScript(text)) << text;
  }
}

TEST(IsScript, RejectsOtherTexts) {
  for (const std::string_view text :
       {"main;f 1\n", "# interval: 100\nmain;f 1\n", "a 12 [001] 1.5: b 7\n", "profile: total 7\n",
        "heap;profile 7\n", "f (x) 7\n", " 12345.678901: 7\n", "", "prog 7 cycles:\nmain;f 1\n",
        "{\"a\": \"sh 7 1.0: e\"}\n"}) {
    EXPECT_FALSE(IsScript(text)) << text;
  }
  EXPECT_FALSE(IsScript({"sh 7 1.0: e: \n\0", 15}));
}

}  // namespace
}  // namespace perftape::script
