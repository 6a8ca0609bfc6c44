// SPDX-License-Identifier: Apache-2.0
#include "formats/script/frame_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/script/escape.h"

namespace perftape::script {
namespace {

// "address symbol in dso", or "address symbol inlined".
std::string TextOf(const std::optional<Frame>& frame) {
  if (!frame) return "none";
  std::string text = fmt::format("{:x} {}", frame->address, frame->symbol);
  text += frame->is_inlined ? " inlined" : fmt::format(" in {}", frame->dso);
  if (frame->source_line != 0)
    text += fmt::format(" {}:{}", frame->source_file, frame->source_line);
  return text;
}

std::string Parsed(std::string_view text, Writer writer = Writer::kPerf) {
  return TextOf(ParseFrame(text, writer));
}

TEST(ParseFrame, ReadsWhatPerfPrints) {
  EXPECT_EQ(Parsed("ffffffff81001234 do_idle+0x12 ([kernel.kallsyms])"),
            "ffffffff81001234 do_idle in [kernel.kallsyms]");
  EXPECT_EQ(Parsed("21b97 [unknown] (/usr/lib/libc.so.6)"),
            "21b97 [unknown] in /usr/lib/libc.so.6");
  EXPECT_EQ(Parsed("0 [unknown] ([unknown])"), "0 [unknown] in [unknown]");
  EXPECT_EQ(Parsed("401136 inner (inlined)"), "401136 inner inlined");
  EXPECT_EQ(Parsed("401136 main"), "401136 main in ");
  EXPECT_EQ(Parsed("401136"), "401136  in ");
}

TEST(ParseFrame, ReadsNamesWithBlanksAndParentheses) {
  EXPECT_EQ(Parsed("dd777 v8::Call(v8::Isolate*, int) const+0x1 (/tmp/node-v011)"),
            "dd777 v8::Call(v8::Isolate*, int) const in /tmp/node-v011");
  EXPECT_EQ(Parsed("1 work+0x28 (/dir/w (1))"), "1 work in /dir/w (1)");
  EXPECT_EQ(Parsed("1 f (/memfd:jit (deleted))"), "1 f in /memfd:jit (deleted)");
  EXPECT_EQ(Parsed("1 operator()(int) (foo.so)"), "1 operator()(int) in foo.so");
  EXPECT_EQ(Parsed("7f1e2215d058  (/lib/libc-2.15.so)"), "7f1e2215d058  in /lib/libc-2.15.so");
  EXPECT_EQ(Parsed("b3cea6c4\tLock::unlock() (/system/lib/libc.so)"),
            "b3cea6c4 Lock::unlock() in /system/lib/libc.so");
}

TEST(ParseFrame, SplitsAtTheLastOffset) {
  EXPECT_EQ(Parsed("1 <map<u64, ([u8; 32], u32)>>::insert+0x16 (/opt/app)"),
            "1 <map<u64, ([u8; 32], u32)>>::insert in /opt/app");
  EXPECT_EQ(Parsed("1 Ion: f (/home/bench.js:3:14)+0x16 (/tmp/perf-4712.map)"),
            "1 Ion: f (/home/bench.js:3:14) in /tmp/perf-4712.map");
  EXPECT_EQ(Parsed("1 f+0x16 (/opt/my prog (1)/bin)"), "1 f in /opt/my prog (1)/bin");
  EXPECT_EQ(Parsed("1 f+0x1 (/a (/b)+0x2 (/tmp/perf-1.map)"),
            "1 f+0x1 (/a (/b) in /tmp/perf-1.map");
  EXPECT_EQ(Parsed("1 js (/x.js:1)+0x16 (jit.map)"), "1 js (/x.js:1) in jit.map");
}

TEST(ParseFrame, SplitsAtTheLastDsoWithoutAnOffset) {
  EXPECT_EQ(Parsed("1 <map<u64, ([u8; 32], u32)>>::insert (/opt/app)"),
            "1 <map<u64, ([u8; 32], u32)>>::insert in /opt/app");
  EXPECT_EQ(Parsed("1 main.Do[func() ([]uint8, error)] ([unknown])"),
            "1 main.Do[func() ([]uint8, error)] in [unknown]");
  EXPECT_EQ(Parsed("1 f (/opt/app (deleted))"), "1 f in /opt/app (deleted)");
  EXPECT_EQ(Parsed("1 [unknown] (/tmp/x+0x5 (deleted))"), "1 [unknown] in /tmp/x+0x5 (deleted)");
}

TEST(ParseFrame, RejectsInstructionsOfBranches) {
  EXPECT_EQ(Parsed("0000000000400580\tinsn: 55      # PRED 2 cycles [2] 0.50 IPC"), "none");
  EXPECT_EQ(Parsed("0000000000400580\tmov (%rax), %rbx"), "none");
  EXPECT_EQ(Parsed("ffffffff81001234\tf ([kernel.kallsyms])"),
            "ffffffff81001234 f in [kernel.kallsyms]");
}

TEST(ParseFrame, LeavesOutWhatFollowsTheDso) {
  EXPECT_EQ(Parsed("1 f+0x1 (/a) 0x401136/0x401140/P/-/-/0"), "1 f in /a");
  EXPECT_EQ(Parsed("1 f+0x1 (/a) =>  401140 g+0x0 (/b)"), "1 f in /a");
  EXPECT_EQ(Parsed("1 f+0x1 (/usr/lib/libc.so.6+0x21b97)"), "1 f in /usr/lib/libc.so.6");
}

TEST(ParseFrame, RejectsOtherTexts) {
  for (const std::string_view text : {"", "main (/bin/x)", "THIS_IS_A_WEIRD_LINE", "prog.c:12",
                                      "11112222333344445 f (/x)", "0x12 f (/x)", "FF f (/x)"}) {
    EXPECT_EQ(Parsed(text), "none") << text;
  }
}

TEST(ParseFrame, FindsTheDsoOfOurTextAtItsEnd) {
  EXPECT_EQ(Parsed("1 f (/x) ([y]) (/z)", Writer::kPerftape), "1 f (/x) ([y]) in /z");
}

TEST(ParseFrameAtEnd, FindsTheFrameInAnAlignedColumn) {
  const auto parsed = [](std::string_view rest) {
    return TextOf(ParseFrameAtEnd(rest, Writer::kPerf));
  };
  EXPECT_EQ(parsed("  ffffffffb240e6c9 f+0x19 ([kernel.kallsyms])"),
            "ffffffffb240e6c9 f in [kernel.kallsyms]");
  EXPECT_EQ(parsed("     7fcc396f00 execvp+0x0 (/lib/libc.so.6)"),
            "7fcc396f00 execvp in /lib/libc.so.6");
  EXPECT_EQ(
      parsed("   jcc                            411077 raise+0xc7 (foo.so) =>       411079 g (x)"),
      "411077 raise in foo.so");
  EXPECT_EQ(parsed(" comm=a prev=1 ffffffff81001234 f+0x1 ([k])"), "ffffffff81001234 f in [k]");
  EXPECT_EQ(parsed(" 401136 main (/bin/x)"), "401136 main in /bin/x");
  EXPECT_EQ(parsed("                0 ffffffffb240dfeb f ([kernel.kallsyms])"),
            "ffffffffb240dfeb f in [kernel.kallsyms]");
  EXPECT_EQ(parsed("  ffffffffb240dfeb [unknown]"), "ffffffffb240dfeb [unknown] in ");
}

TEST(ParseFrameAtEnd, LeavesATracepointsTextAlone) {
  for (const std::string_view rest : {"", " ", " add 12 (foo)", " comm=sh (x)", " a=401136 f (/x)",
                                      " prev 401136 main (/bin/x)", " ffffffff81001234"}) {
    EXPECT_FALSE(ParseFrameAtEnd(rest, Writer::kPerf)) << rest;
  }
}

TEST(ParseSourceLine, ReadsFileAndLine) {
  const auto parsed = [](std::string_view text) {
    Frame frame;
    const bool is_one = ParseSourceLine(text, frame);
    return is_one ? TextOf(frame) : "none";
  };
  EXPECT_EQ(parsed("  prog.c:12"), "0  in  prog.c:12");
  EXPECT_EQ(parsed("/a b/prog.c:12 (discriminator 3)"), "0  in  /a b/prog.c:12");
  EXPECT_EQ(parsed("prog.c:12 (inlined)"), "0  inlined prog.c:12");
  EXPECT_EQ(parsed("prog[401136]"), "0  in ");
  EXPECT_EQ(parsed("??:0"), "0  in ");
  EXPECT_EQ(parsed("a.c:99999999999999999999"), "0  in ");
  EXPECT_EQ(parsed("could not read"), "none");
  EXPECT_EQ(parsed(":12"), "none");
}

TEST(AppendFrame, WritesALineThatIsReadAgain) {
  for (const std::string_view symbol :
       {"main", "f(int) const", "x+0x12", "(anonymous namespace)::f", " a ", "a\nb", "f (/x) ([y])",
        "f (inlined)", "", "%", "a (inlined)+0x1"}) {
    for (const std::string_view dso :
         {"/usr/bin/my prog (1)", "[kernel.kallsyms]", "[unknown]", "x)"}) {
      std::string text;
      AppendFrame(text, {.address = 0x401136, .symbol = symbol, .dso = dso});
      ASSERT_TRUE(text.starts_with('\t') && text.ends_with('\n'));
      const std::string_view line =
          std::string_view(text).substr(text.find_first_not_of("\t "), text.npos);
      const auto frame = ParseFrame(line.substr(0, line.size() - 1), Writer::kPerftape);
      ASSERT_TRUE(frame) << text;
      EXPECT_EQ(frame->address, 0x401136);
      EXPECT_EQ(Unescaped(frame->symbol), symbol);
      EXPECT_EQ(Unescaped(frame->dso), dso);
      EXPECT_FALSE(frame->is_inlined);
    }
  }
}

TEST(AppendFrame, WritesAnInlinedCall) {
  std::string text;
  AppendFrame(text, {.address = 0x401136, .symbol = "inner", .is_inlined = true});
  EXPECT_EQ(text, "\t          401136 inner (inlined)\n");
}

}  // namespace
}  // namespace perftape::script
