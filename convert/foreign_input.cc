// SPDX-License-Identifier: Apache-2.0
#include "convert/foreign_input.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/utf8_text.h"
#include "formats/folded/folded.h"
#include "formats/perfdata/reader.h"
#include "formats/protobuf/recognition.h"
#include "formats/stack_text/bpftrace.h"

namespace perftape::convert {
namespace {

constexpr std::size_t kEnough = 4096;

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

// Recognizes the first lines of the formats in google/pprof's profile/legacy_profile.go.
bool IsLegacyPprofText(std::string_view text) {
  std::string_view line;
  folded::ReadLine(text, line);
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"heap profile:", "heapz profile:", "--- heap", "--- growth", "--- contention", "--- mutex",
       "--- thread", "--- symbol", "--- profile"});
  const auto begins = [&](std::string_view beginning) { return line.starts_with(beginning); };
  if (std::ranges::any_of(kBeginnings, begins)) return true;
  // "goroutine profile: total 7", "threadcreate profile: total 3"
  constexpr std::string_view kTotal = " profile: total ";
  const std::size_t total = line.find(kTotal);
  return total != std::string_view::npos && line.find(' ') == total &&
         IsNumber(line.substr(total + kTotal.size()));
}

// Recognizes profilez: words 0, 3, 0, the period, 0, of 4 or 8 bytes in either order; then samples.
template <class Word>
bool IsLegacyPprofBinary(Bytes bytes, std::endian order) {
  constexpr std::size_t kWords = 5;
  if (bytes.size() < kWords * sizeof(Word)) return false;
  const auto word = [&](std::size_t i) {
    return LoadFixed<Word>(bytes.data() + i * sizeof(Word), order);
  };
  return word(0) == 0 && word(1) == 3 && word(2) == 0 && word(3) != 0 && word(4) == 0;
}

bool IsLegacyPprof(Bytes bytes) {
  return IsLegacyPprofText(AsText(bytes)) ||
         IsLegacyPprofBinary<std::uint64_t>(bytes, std::endian::little) ||
         IsLegacyPprofBinary<std::uint64_t>(bytes, std::endian::big) ||
         IsLegacyPprofBinary<std::uint32_t>(bytes, std::endian::little) ||
         IsLegacyPprofBinary<std::uint32_t>(bytes, std::endian::big);
}

// A format that is not read: how to recognize it, and what to do.
struct KnownFormat {
  bool (*is_one)(std::string_view beginning);
  std::string_view description;
};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool BeginsJson(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
}

// Recognizes "64 main;work" after a table of perf report.
bool IsFoldedPerfReport(std::string_view text) {
  if (!text.starts_with('#') || !Has(text, "# Overhead")) return false;
  for (std::string_view line; folded::ReadLine(text, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos && IsNumber(line.substr(0, blank))) return true;
  }
  return false;
}

bool IsCallgrind(std::string_view text) {
  return text.starts_with("# callgrind format") ||
         (Has(text.substr(0, 512), "\nevents: ") && Has(text, "\nfn="));
}

constexpr std::string_view kCallgrindDescription =
    "is a callgrind profile (Xdebug also writes them), with calls but no stacks; KCachegrind and "
    "callgrind_annotate show it";

// Recognizes the dump of StackProf.run(out:), which Ruby's Marshal wrote, and its JSON.
bool IsStackprof(std::string_view text) {
  if (text.starts_with("\x04\x08{")) return Has(text, "mode") && Has(text, "interval");
  return BeginsJson(text) && Has(text, "\"mode\"") && Has(text, "\"interval\"") &&
         Has(text, "\"frames\"");
}

// Recognizes "0 sleep <internal>:-1" and "1 <main> /a.php:3", the first two lines of a stack.
bool IsPhpspy(std::string_view text) {
  std::string_view line;
  const auto is_frame = [&](std::string_view number) {
    const std::size_t place = line.rfind(' ');
    return line.starts_with(number) && place >= number.size() && place != line.npos &&
           line.find(':', place) != line.npos;
  };
  if (!folded::ReadLine(text, line) || !is_frame("0 ")) return false;
  return folded::ReadLine(text, line) && (is_frame("1 ") || line.empty());
}

// Recognizes the first packets of a trace: { repeated TracePacket packet = 1; }, each of which has
// the user id (3) or the sequence (10) of its writer (protos/perfetto/trace/trace_packet.proto).
bool IsPerfetto(std::string_view text) {
  constexpr std::size_t kPackets = 3;
  constexpr std::uint32_t kPacket = 1, kUser = 3, kSequence = 10;
  bool is_binary = false;
  protobuf::Beginning trace = {.bytes = AsBytes(text), .is_cut = true};
  std::size_t packets = 0, with_writer = 0;
  for (protobuf::FieldBeginning packet; packets < kPackets; ++packets) {
    const protobuf::FieldStep step = protobuf::NextField(trace, packet, is_binary);
    if (step == protobuf::FieldStep::kEnd) break;
    if (step == protobuf::FieldStep::kNoField || packet.number != kPacket || !packet.has_length) {
      return false;
    }
    protobuf::FieldBeginning field;
    while (protobuf::NextField(packet.content, field, is_binary) == protobuf::FieldStep::kField) {
      if (!field.is_varint || (field.number != kUser && field.number != kSequence)) continue;
      ++with_writer;
      break;
    }
  }
  return packets != 0 && 2 * with_writer > packets;
}

// Recognizes WMI_BUFFER_HEADER, of 72 bytes, which begins with the size of a buffer, and the
// SYSTEM_TRACE_HEADER after it (ntwmi.h: HeaderType 1 or 2, MarkerFlags 0xc0).
bool IsEtw(std::string_view text) {
  constexpr std::size_t kHeader = 72, kType = kHeader + 2, kFlags = kHeader + 3;
  constexpr std::uint32_t kUnit = 1024;
  if (text.size() <= kFlags) return false;
  const auto size = LoadFixed<std::uint32_t>(AsBytes(text).data(), std::endian::little);
  const auto type = static_cast<unsigned char>(text[kType]);
  return size != 0 && size % kUnit == 0 && (type == 1 || type == 2) &&
         static_cast<unsigned char>(text[kFlags]) == 0xc0;
}

// The remedies name programs that read the format, by their manuals.
constexpr KnownFormat kKnownFormats[] = {
    {[](std::string_view text) { return stack_text::IsPrintedByBpftrace(text); },
     "are stacks that a script of bpftrace printed, without numbers; perftape reads the stacks of "
     "a map, `@[ustack] = count()`"},
    {[](std::string_view text) {
       return text.starts_with("FLR") && text.substr(3, 1) == std::string_view("\0", 1);
     },
     "is a JDK Flight Recording (JFR); `jfrconv --collapsed FILE out.folded` of async-profiler "
     "converts it to folded stacks"},
    {[](std::string_view text) { return text.starts_with("JAVA PROFILE "); },
     "is a heap dump of Java (HPROF), not a profile; async-profiler records profiles of "
     "allocations (`asprof -e alloc -o collapsed`)"},
    {[](std::string_view text) {
       return Has(text, "Time and Allocation Profiling Report") || Has(text, "COST CENTRE");
     },
     "is a report of GHC (.prof); run the program with `+RTS -pj` and open its JSON with "
     "speedscope, or convert this file with `ghc-prof-flamegraph FILE`"},
    {[](std::string_view text) { return BeginsJson(text) && Has(text, "\"cost_centres\""); },
     "is a profile of GHC in JSON (-pj); open it with speedscope, and export it in speedscope's "
     "own format, which perftape reads"},
    {[](std::string_view text) { return BeginsJson(text) && Has(text, "\"dhatFileVersion\""); },
     "is a heap profile of DHAT; dh_view.html, which comes with valgrind, shows it"},
    {[](std::string_view text) {
       return BeginsJson(text) &&
              (Has(text, "\"traceEvents\"") || (Has(text, "\"ph\"") && Has(text, "\"ts\"")));
     },
     "is a trace of Chrome (trace events) without samples of V8; `node --cpu-prof` and the "
     "inspector's Profiler.stop write a .cpuprofile, which perftape reads"},
    {&IsStackprof,
     "is a profile of Ruby's stackprof; if it was recorded with `raw: true`, `stackprof "
     "--stackcollapse FILE > out.folded` converts it to folded stacks"},
    {[](std::string_view text) { return BeginsJson(text) && Has(text, "\"attached_probes\""); },
     "is the JSON of bpftrace; without `-f json` it prints its maps as text, which perftape reads"},
    {[](std::string_view text) { return text.starts_with("Nettrace"); },
     "is a trace of dotnet-trace; `dotnet-trace convert --format Speedscope FILE` converts it to a "
     "file that perftape reads"},
    {[](std::string_view text) { return text.starts_with("MOJ"); },
     "is a profile of Austin in its binary form; `mojo2austin FILE out.folded` of the Python "
     "package austin-python converts it to folded stacks"},
    {[](std::string_view text) { return Has(text, " stacks with outstanding allocations:"); },
     "is the text of bcc's memleak, with the sizes before the stacks; `bpftrace -e "
     "'uprobe:LIBC:malloc { @[ustack] = sum(arg0) }'`, with the path of libc.so.6 for LIBC, counts "
     "the allocated bytes in a text that perftape reads"},
    {[](std::string_view text) { return text.starts_with(std::string_view("memray\0", 7)); },
     "is a capture of memray; `memray flamegraph FILE` shows it as a page"},
    {[](std::string_view text) { return text.starts_with("\x04\x22\x4d\x18"); },
     "is compressed with LZ4, as captures of memray are; `memray flamegraph FILE` shows those; "
     "expand other files with `lz4 -d FILE` first"},
    {[](std::string_view text) {
       return text.starts_with("TRACE START [") || Has(text, "\nTRACE START [");
     },
     "is a function trace of Xdebug, with calls but no samples; if it was written with "
     "xdebug.trace_format=1, FlameGraph's stackcollapse-xdebug.php converts it to folded stacks"},
    {&IsPhpspy,
     "are stacks of phpspy without counts; `stackcollapse-phpspy.pl FILE > out.folded`, which "
     "comes with phpspy, converts them to folded stacks"},
    {&IsPerfetto,
     "is a trace of Perfetto; `traceconv profile FILE` converts the CPU and heap profiles in it to "
     "pprof files, which perftape reads"},
    {&IsEtw,
     "is a trace of Windows (ETW, .etl); `samply import FILE --save-only -o profile.json.gz`, on "
     "Windows, converts it to a file that perftape reads"},
    {[](std::string_view text) {
       return Has(text, "\n    waker: ") || (Has(text, "\n    target: ") && Has(text, "waker"));
     },
     "is a text of bcc's offwaketime or wakeuptime; with -f they print folded stacks, which "
     "perftape reads"},
    {[](std::string_view text) { return IsFoldedPerfReport(text); },
     "is a text of `perf report -g folded`, where counts precede the stacks; convert the recording "
     "itself, or convert the text to folded stacks with `awk '/^ / {comm = $3} /^[0-9]/ {print "
     "comm \";\" $2, $1}'`"},
    {[](std::string_view text) {
       return text.starts_with("PeriodType: ") && Has(text, "\nPeriod: ");
     },
     "is the text of `go tool pprof -raw`; convert the profile that it was printed from, or "
     "convert the text to folded stacks with stackcollapse-go.pl"},
    {[](std::string_view text) {
       return Has(text, "\n-----------+----") && (Has(text, "Type: ") || Has(text, "File: "));
     },
     "is the text of `go tool pprof -traces`; convert the profile that it was printed from"},
    {[](std::string_view text) {
       return Has(text, "# Overhead") && Has(text, "Samples") && text.starts_with('#');
     },
     "is the text of perf report; convert the recording itself, or the text that `perf script` "
     "prints for it"},
    {[](std::string_view text) { return text.starts_with("desc: ") && Has(text, "\ncmd: "); },
     "is a heap profile of valgrind's massif, with stacks only in some of its snapshots; "
     "ms_print shows it"},
    {[](std::string_view text) { return text.starts_with("v ") && Has(text, "\nX "); },
     "is a profile of heaptrack; `heaptrack_print -F out.folded FILE` converts it to folded "
     "stacks"},
    {[](std::string_view text) { return Has(text, "Full thread dump "); },
     "is a thread dump of Java (jstack), with one stack for each thread and no numbers; "
     "async-profiler (`asprof -o collapsed`) records folded stacks"},
    {[](std::string_view text) { return text.starts_with("--- Execution profile ---"); },
     "is a flat or tree text of async-profiler; with `-o collapsed` it prints folded stacks, which "
     "perftape reads"},
    {[](std::string_view text) {
       return text.starts_with("<!DOCTYPE html") || text.starts_with("<!doctype html") ||
              text.starts_with("<html");
     },
     "is a page (HTML) that shows a profile, and cannot be converted back; convert the file that "
     "it was made from"},
    {[](std::string_view text) {
       return text.starts_with("<svg") || (text.starts_with("<?xml") && Has(text, "<svg"));
     },
     "is a picture (SVG) that shows a profile, and cannot be converted back; convert the file that "
     "it was made from"},
    {[](std::string_view text) { return text.starts_with("SQLite format 3"); },
     "is an SQLite database, such as VTune and Nsight Systems write; `vtune -report hotspots "
     "-format csv -group-by callstack` or `nsys stats` print their samples as text"},
    {[](std::string_view text) {
       return text.starts_with("<?xml") &&
              (Has(text, "trace-query-result") || Has(text, "<trace-toc"));
     },
     "is the XML of xctrace export (Instruments); `inferno-collapse-xctrace FILE` converts it to "
     "folded stacks"},
    {[](std::string_view text) {
       return text.starts_with("PID ") && (Has(text, "\nTID ") || Has(text, "\n#0 "));
     },
     "are stack traces of eu-stack, one for each thread and without numbers; "
     "stackcollapse-elfutils.pl converts them to folded stacks"},
    {[](std::string_view text) { return text.starts_with("#0 ") || Has(text, "\n#0  0x"); },
     "are stack traces of gdb or pstack, without numbers; stackcollapse-gdb.pl converts them to "
     "folded stacks"},
    {[](std::string_view text) { return text.starts_with("gmon"); },
     "is a profile of gprof (gmon.out), which has no stacks; record the program with "
     "perftape-record"},
    {[](std::string_view text) {
       return text.starts_with("Flat profile:") || Has(text, "Each sample counts as ");
     },
     "is a report of gprof, which has no stacks; record the program with perftape-record"},
};

}  // namespace

std::optional<std::string> DescribeForeign(const Input& input) {
  if (perfdata::IsPerfData(input)) return {};
  if (input.is_directory()) {
    const std::string_view path = input.path().native();
    if (path.ends_with(".trace") || path.ends_with(".trace/")) {
      return "is a trace of Instruments; `xctrace export --input FILE --xpath "
             "'/trace-toc/*/data/table[@schema=\"time-profile\"]'` prints it, and "
             "inferno-collapse-xctrace converts that to folded stacks";
    }
    return "is a directory, but not a perf.data of several files: it contains no file 'data'";
  }
  const Bytes beginning = input.first(kEnough);
  if (IsLegacyPprof(beginning)) {
    return "is a profile in one of pprof's old formats; `go tool pprof -proto FILE > out.pb.gz` "
           "converts it to one that perftape reads";
  }
  // Its first lines end in numbers, as those of folded stacks do.
  if (IsCallgrind(Utf8Text(beginning).view())) return std::string(kCallgrindDescription);
  return {};
}

std::optional<std::string> DescribeUnread(const Input& input) {
  const Utf8Text text(input.first(kEnough));
  for (const KnownFormat& known : kKnownFormats) {
    if (known.is_one(text.view())) return std::string(known.description);
  }
  return {};
}

}  // namespace perftape::convert
