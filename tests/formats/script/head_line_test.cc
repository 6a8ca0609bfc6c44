// SPDX-License-Identifier: Apache-2.0
#include "formats/script/head_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace perftape::script {
namespace {

// "comm|pid/tid|cpu|time_ns|period|event|rest", with "-" for what is missing.
std::string Parsed(std::string_view line) {
  const auto head = ParseHead(line);
  if (!head) return "none";
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : "-"; };
  if (head->is_record) return fmt::format("record {}", head->rest);
  return fmt::format("{}|{}/{}|{}|{}|{}|{}|{}", head->comm, text(head->pid), head->tid,
                     text(head->cpu), text(head->time_ns), text(head->period), head->event,
                     head->rest);
}

TEST(ParseHead, ReadsWhatPerfPrints) {
  EXPECT_EQ(Parsed("swapper     0 [003] 12345.678901:     250000 cpu-clock: "),
            "swapper|-/0|3|12345678901000|250000|cpu-clock|");
  EXPECT_EQ(Parsed("java 12688/12764 6544038.708352: cpu-clock:"),
            "java|12688/12764|-|6544038708352000|-|cpu-clock|");
  EXPECT_EQ(Parsed("sh   119/119     40.671323456:    3344481 cycles:u: "),
            "sh|119/119|-|40671323456|3344481|cycles:u|");
}

TEST(ParseHead, TrimsAPaddedComm) {
  EXPECT_EQ(
      Parsed(
          "     migration/0    16 [000]    33.465933:    3344481 cpu-clock:  ffffb2 f+0x19 ([k])"),
      "migration/0|-/16|0|33465933000|3344481|cpu-clock|  ffffb2 f+0x19 ([k])");
}

TEST(ParseHead, ReadsAnyComm) {
  EXPECT_EQ(Parsed("V8 WorkerThread 24636/25607 [000] 94564.109216: cycles:"),
            "V8 WorkerThread|24636/25607|0|94564109216000|-|cycles|");
  EXPECT_EQ(Parsed("a 7 1.000000: e: "), "a|-/7|-|1000000000|-|e|");
  EXPECT_EQ(Parsed("FS Broker 5858  5791/5860  30171.917889:    4612247 cycles:ppp: "),
            "FS Broker 5858|5791/5860|-|30171917889000|4612247|cycles:ppp|");
  EXPECT_EQ(Parsed("a b 12/34 [x]: 5/6 [001] 7.000000: 1 cycles: "),
            "a b 12/34 [x]:|5/6|1|7000000000|1|cycles|");
  EXPECT_EQ(Parsed("1 2.000000: 3 4.000000: e: "), "1 2.000000:|-/3|-|4000000000|-|e|");
  EXPECT_EQ(Parsed(":-1    -1 [001]    75.086698: cycles: "),
            ":-1|-/4294967295|1|75086698000|-|cycles|");
  EXPECT_EQ(Parsed("728783/728783 336962.964016127:       1 cycles:u: "),
            "|728783/728783|-|336962964016127|1|cycles:u|");
}

TEST(ParseHead, ReadsACommThatIsTooLongForTheKernel) {
  EXPECT_EQ(
      Parsed("org.mozilla.geckoview_example\t25102 [007] 115540.44424:\t\t1000000 task-clock:u:"),
      "org.mozilla.geckoview_example|-/25102|7|115540444240000|1000000|task-clock:u|");
}

// Linux has no comm of 16 bytes, so the text after the event is not part of it.
TEST(ParseHead, IgnoresWhatLooksLikeAHeadInATracepointsText) {
  EXPECT_EQ(Parsed("sh 1 [000] 2.000000: sched:sched_switch: prev_comm=x 3 4.000000: y: "),
            "sh|-/1|0|2000000000|-|sched:sched_switch| prev_comm=x 3 4.000000: y:");
}

TEST(ParseHead, ReadsLinesWithoutATime) {
  EXPECT_EQ(Parsed("node-v011 31912 cpu-clock: "), "node-v011|-/31912|-|-|-|cpu-clock|");
  EXPECT_EQ(Parsed("prog 7/8 [001]     250000 cycles: "), "prog|7/8|1|-|250000|cycles|");
  EXPECT_EQ(Parsed("my 12     7 cycles: "), "my 12|-/7|-|-|-|cycles|");
}

TEST(ParseHead, ReadsLinesWithoutAnEvent) {
  EXPECT_EQ(Parsed("perf 12 1.500000: "), "perf|-/12|-|1500000000|-||");
  EXPECT_EQ(Parsed("perf 12 1.500000:           401136 main (/bin/x)"),
            "perf|-/12|-|1500000000|-||401136 main (/bin/x)");
}

TEST(ParseHead, ReadsOptionalFields) {
  EXPECT_EQ(Parsed("perf  6520 [000] K      2488.437657:    1495736 cycles: "),
            "perf|-/6520|0|2488437657000|1495736|cycles|");
  EXPECT_EQ(Parsed("perf  7/8 [001] Sp     2.500000:    1 cycles: "),
            "perf|7/8|1|2500000000|1|cycles|");
  EXPECT_EQ(Parsed("K  7 U      2.500000:    1 cycles: "), "K|-/7|-|2500000000|1|cycles|");
  EXPECT_EQ(Parsed("perf 7 [000] 2026-11-25 09:06:45.123456     2.500000:  1 cycles: "),
            "perf|-/7|0|2500000000|1|cycles|");
  EXPECT_EQ(Parsed("perf 7 [-01]     2.500000:  1 cycles: "), "perf|-/7|-|2500000000|1|cycles|");
}

TEST(ParseHead, ReadsAPeriodWithoutAnEvent) {
  EXPECT_EQ(Parsed("perf 7 [000]  2.500000:    3344481  ffffffffb240dfeb f ([k])"),
            "perf|-/7|0|2500000000|3344481||  ffffffffb240dfeb f ([k])");
  EXPECT_EQ(Parsed("perf 7 [000]  2.500000:    3344481 "), "perf|-/7|0|2500000000|3344481||");
  EXPECT_EQ(Parsed("perf 7 [000]  2.500000:           401136"), "perf|-/7|0|2500000000|-||401136");
}

TEST(ParseHead, ReadsALineWithoutAThread) {
  EXPECT_EQ(Parsed("my prog [003]  2.500000:    5 cycles: "),
            "my prog|-/4294967295|3|2500000000|5|cycles|");
}

TEST(ParseThreadLine, ReadsACommAndAThread) {
  EXPECT_EQ(ParseThreadLine("my prog  7/8 ").value().comm, "my prog");
  EXPECT_EQ(ParseThreadLine("my prog  7/8 ").value().tid, 8);
  for (const std::string_view line : {"what is 7", " sh 7 ", "7 ", "sh [007] ", ""}) {
    EXPECT_FALSE(ParseThreadLine(line)) << line;
  }
}

TEST(ParseShortHead, ReadsTheFieldsThatAreThere) {
  const auto text_of = [](std::string_view line) {
    const Head head = ParseShortHead(line).value();
    return fmt::format("{}|{}|{}|{}|{}", head.comm, static_cast<std::int32_t>(head.tid),
                       head.time_ns.value_or(0), head.period.value_or(0), head.event);
  };
  EXPECT_EQ(text_of("my prog "), "my prog|-1|0|0|");
  EXPECT_EQ(text_of("27430 "), "|27430|0|0|");
  EXPECT_EQ(text_of("    7 "), "|7|0|0|");
  EXPECT_EQ(text_of("   1001001 "), "|-1|0|1001001|");
  EXPECT_EQ(text_of(" 1.500000: "), "|-1|1500000000|0|");
  EXPECT_EQ(text_of("sh  1.500000: "), "sh|-1|1500000000|0|");
  EXPECT_EQ(text_of("cpu-clock:u: "), "|-1|0|0|cpu-clock:u");
  EXPECT_EQ(text_of("sh  1.500000:    1001001 cycles: "), "sh|-1|1500000000|1001001|cycles");
  EXPECT_FALSE(ParseShortHead("a text longer than a comm"));
}

TEST(ParseHead, ReadsTheColumnsOfLatency) {
  EXPECT_EQ(Parsed(" swapper     0   3    61.137884:    3344481 cpu-clock:  ff f ([k])"),
            "swapper|-/0|3|61137884000|3344481|cpu-clock|  ff f ([k])");
  EXPECT_EQ(Parsed("perf-exe   179   0    61.145856:    3344481 cpu-clock: "),
            "perf-exe|-/179|0|61145856000|3344481|cpu-clock|");
  EXPECT_EQ(Parsed("swapper 0     3     1.500000: 7 e: "), "swapper 0|-/3|-|1500000000|7|e|");
}

TEST(ParseHead, RecognizesMetrics) {
  const auto head = ParseHead("sh 7 [000] 1.500000: \tmetric:      0.50  insn per cycle");
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->is_metric);
  EXPECT_FALSE(ParseHead("sh 7 [000] 1.500000: metric: ").value().is_metric);
}

TEST(ParseHead, RecognizesRecords) {
  EXPECT_EQ(Parsed("sh 106 15.052303: PERF_RECORD_COMM exec: sh:106/106"),
            "record PERF_RECORD_COMM exec: sh:106/106");
}

TEST(ParseHead, RejectsOtherLines) {
  for (const std::string_view line :
       {"", "   ", "\t          401136 main+0x6 (/bin/prog)", "main;f 1", "# a : b",
        "prog 7 cycles", "12345.678901: 7", "prog x/7 1.000000: e:", "prog 7 1.0000000000: e:",
        "prog 7 99999999999999999999.000000: e:", "prog 99999999999 1.000000: e:", "0:", ":"}) {
    EXPECT_EQ(Parsed(line), "none") << line;
  }
}

TEST(ParseHead, ReadsEachBeginningOfALine) {
  constexpr std::string_view kLine = "a b 12/34 [x]: 5/6 [001] 7.000000: 1 cycles: 40 f (/x)";
  for (std::size_t size = 0; size <= kLine.size(); ++size) {
    const auto head = ParseHead(kLine.substr(0, size));
    if (head && head->time_ns) {
      EXPECT_EQ(head->comm, "a b 12/34 [x]:");
    }
  }
}

TEST(AppendHead, WritesALineThatIsReadAgain) {
  std::string text;
  AppendHead(text,
             {.comm = "sh",
              .pid = 7,
              .tid = 8,
              .cpu = 3,
              .time_ns = 1'000'002'003,
              .period = 99,
              .event = "cycles:u"},
             TimeDigits::kNanoseconds);
  EXPECT_EQ(text, "sh 7/8 [003] 1.000002003:         99 cycles:u: \n");
  EXPECT_EQ(Parsed(text.substr(0, text.size() - 1)), "sh|7/8|3|1000002003|99|cycles:u|");
  text.clear();
  AppendHead(text, {.comm = "sh", .tid = 8, .time_ns = 2'000'000, .event = "e"},
             TimeDigits::kMicroseconds);
  EXPECT_EQ(text, "sh 8 0.002000:          1 e: \n");
}

TEST(WritableComm, IsRecognizedByAllReaders) {
  EXPECT_EQ(WritableComm("kworker/u2:0"), "kworker/u2:0");
  EXPECT_EQ(WritableComm("a b\tc\n"), "a_b_c_");
  EXPECT_EQ(WritableComm("a"), "a_");
  EXPECT_EQ(WritableComm(""), "__");
  EXPECT_EQ(WritableComm("12/3"), "12/3_");
  EXPECT_EQ(WritableComm("7"), "7_");
  EXPECT_EQ(WritableComm("#x"), "_x");
}

}  // namespace
}  // namespace perftape::script
