// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/stack_text/bpftrace.h"
#include "formats/stack_text/call_graph.h"
#include "formats/stack_text/frame_names.h"
#include "formats/stack_text/stack_list.h"

namespace perftape::stack_text {
namespace {

using testing::ElementsAre;

struct Read {
  std::vector<std::string> stacks;  // "comm/pid [keys] leaf<caller 7, 1 of the kernel"
  TextCounts counts;
};

using TextReader = TextCounts(std::string_view text, const StackSink& sink);

Read ReadWith(TextReader& read, std::string_view text) {
  Read result;
  result.counts = read(text, [&](const CountedStack& stack) {
    result.stacks.push_back(fmt::format("{}/{} [{}] {} {}, {} of the kernel", stack.comm,
                                        stack.pid.value_or(0), fmt::join(stack.keys, ","),
                                        fmt::join(stack.frames, "<"), stack.count,
                                        stack.kernel_frames));
  });
  return result;
}

constexpr std::string_view kBpftrace =
    "Attaching 2 probes...\n\n@stacks[nginx, 1234,\n    ngx_writev+54\n    main+12\n,\n"
    "    tcp_sendmsg+60\n    entry_SYSCALL_64+9\n]: 7\n@total: 9\n"
    "@[\n    7f1e2215d058 work+0x1 (/bin/x)\n, sh]: count 3, average 4\n@[\n    f+1\n]: (1, 2)\n";

TEST(ReadBpftrace, ReadsStacksAndKeys) {
  const Read read = ReadWith(ReadBpftrace, kBpftrace);
  EXPECT_THAT(read.stacks,
              ElementsAre("nginx/0 [1234] tcp_sendmsg<entry_SYSCALL_64<ngx_writev<main 7, 2 of the "
                          "kernel",
                          "sh/0 [] work 3, 0 of the kernel"));
  EXPECT_EQ(read.counts.stacks, 2);
  EXPECT_EQ(read.counts.others, 2);
}

constexpr std::string_view kBcc =
    "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n"
    "    b'lookup'\n    --\n    main\n    -                iperf3 (58804)\n        3\n\n"
    "    -                a (b) (7)\n        1\n\n  tcp_sendmsg\n    sh [9]\n    12\n\n"
    "WARNING: 5 stack traces lost and could not be displayed.\n";

TEST(ReadStackList, ReadsTheToolsOfBcc) {
  const Read read = ReadWith(ReadStackList, kBcc);
  EXPECT_THAT(read.stacks, ElementsAre("iperf3/58804 [] lookup<main 3, 1 of the kernel",
                                       "a (b)/7 []  1, 0 of the kernel",
                                       "sh/9 [] tcp_sendmsg 12, 0 of the kernel"));
  EXPECT_EQ(read.counts.lost_stacks, 5);
}

constexpr std::string_view kDtrace =
    "CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s\n\n\n"
    "              genunix`kmem_cache_free+0xce\n              unix`sys+0x149\n                1\n";

TEST(ReadStackList, ReadsDtrace) {
  EXPECT_THAT(ReadWith(ReadStackList, kDtrace).stacks,
              ElementsAre("/0 [] genunix`kmem_cache_free<unix`sys 1, 0 of the kernel"));
}

constexpr std::string_view kCallGraph =
    "Analysis of sampling app (pid 7) every 1 millisecond\nCall graph:\n"
    "    10 Thread_1   DispatchQueue_1: main  (serial)\n"
    "    + 10 start  (in libdyld.dylib) + 1  [0x7fff5c2b53d5]\n"
    "    +   8 main  (in app) + 20  [0x10b5d2f00]\n"
    "    +   ! 7 work  (in app) + 7,9  [0x10b5d2e00]\n"
    "    +   2 exit  (in app) + 2  [0x10b5d2e08]\n\nTotal number in stack\n    99 start\n";

TEST(ReadCallGraph, CountsWhatFramesHaveThemselves) {
  EXPECT_THAT(ReadWith(ReadCallGraph, kCallGraph).stacks,
              ElementsAre("Thread_1/0 [] work<main<start 7, 0 of the kernel",
                          "Thread_1/0 [] main<start 1, 0 of the kernel",
                          "Thread_1/0 [] exit<start 2, 0 of the kernel"));
}

TEST(StackTexts, AreToldApart) {
  EXPECT_TRUE(IsBpftrace(kBpftrace));
  EXPECT_EQ(StackListWriterOf(kBcc), StackListWriter::kBcc);
  EXPECT_EQ(StackListWriterOf(kDtrace), StackListWriter::kDtrace);
  EXPECT_TRUE(IsCallGraph(kCallGraph));
  for (const std::string_view text :
       {"", "main;f 1\n", "@total: 7\n", "  a b\n  7\n", "sh 7 1.0: e: \n\t 1 f (/x)\n\n"}) {
    EXPECT_FALSE(IsBpftrace(text) || IsCallGraph(text)) << text;
    EXPECT_EQ(StackListWriterOf(text), StackListWriter::kNone) << text;
  }
}

TEST(StackTexts, CanBeCutAnywhere) {
  for (TextReader* read : {ReadBpftrace, ReadStackList, ReadCallGraph}) {
    for (const std::string_view text : {kBpftrace, kBcc, kDtrace, kCallGraph}) {
      for (std::size_t size = 0; size <= text.size(); ++size) {
        EXPECT_LE(ReadWith(*read, text.substr(0, size)).stacks.size(), 4U);
      }
    }
  }
}

constexpr std::string_view kModePerf =
    "@[\n\tffffffff816d6a0f ksys_read+111\n, \n\t7f1e2215d058 __read+72 (/usr/lib/libc.so.6)\n"
    "\t55d0c0a01149 f(int (*)())+25 (/opt/my app (1)/app)\n\t94ec00 0x94ec00 ([unknown])\n, app]: "
    "4\n@[, , app]: 2\n";

TEST(ReadBpftrace, ReadsModePerfAndEntriesWithoutAStack) {
  EXPECT_TRUE(IsBpftrace(kModePerf));
  EXPECT_THAT(ReadWith(ReadBpftrace, kModePerf).stacks,
              ElementsAre("app/0 [] ksys_read<__read<f(int (*)())<0x94ec00 4, 1 of the kernel",
                          "app/0 []  2, 0 of the kernel"));
}

TEST(ReadBpftrace, ReadsTuples) {
  EXPECT_THAT(ReadWith(ReadBpftrace, "@[(7, \n\tmain+4\n), (sd-pam)]: 3\n").stacks,
              ElementsAre("(sd-pam)/0 [7] main 3, 0 of the kernel"));
}

TEST(StackTexts, PrintedWithoutANumberAreKnown) {
  EXPECT_TRUE(IsPrintedByBpftrace("\n\t7f1 main+4 (/bin/x)\n\t7f2 start+1 (/bin/x)\n"));
  EXPECT_FALSE(IsPrintedByBpftrace(kModePerf));
  EXPECT_FALSE(IsPrintedByBpftrace("\t 7f1 main+0x4 (/bin/x)\n\t 7f2 start+0x1 (/bin/x)\n"));
}

TEST(FrameName, HasNoOffset) {
  EXPECT_EQ(FrameName("  schedule+38"), "schedule");
  EXPECT_EQ(FrameName("main+0x1f (/bin/my prog)"), "main");
  EXPECT_EQ(FrameName("b'f'"), "f");
  EXPECT_EQ(FrameName("operator+"), "operator+");
  EXPECT_EQ(FrameName("a::f(int (*)())+3"), "a::f(int (*)())");
  EXPECT_EQ(FrameName("0x5541f689495641d7"), "0x5541f689495641d7");
}

}  // namespace
}  // namespace perftape::stack_text
