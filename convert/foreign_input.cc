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

// The remedies name programs that read the format, by their manuals.
constexpr KnownFormat kKnownFormats[] = {
    {[](std::string_view text) {
       return text.starts_with("FLR") && text.substr(3, 1) == std::string_view("\0", 1);
     },
     "is a JDK Flight Recording (JFR); `jfrconv --collapsed FILE out.folded` of async-profiler "
     "makes folded stacks of it"},
    {[](std::string_view text) { return text.starts_with("JAVA PROFILE "); },
     "is a heap dump of Java (HPROF), not a profile; async-profiler records one of allocations "
     "(`asprof -e alloc -o collapsed`)"},
    {[](std::string_view text) {
       return Has(text, "Time and Allocation Profiling Report") || Has(text, "COST CENTRE");
     },
     "is a report of GHC (.prof); run the program with `+RTS -pj` and open its JSON with "
     "speedscope, or convert this one with `ghc-prof-flamegraph FILE`"},
    {[](std::string_view text) { return BeginsJson(text) && Has(text, "\"cost_centres\""); },
     "is a profile of GHC in JSON (-pj); speedscope opens it and exports its own format, which is "
     "read here"},
    {[](std::string_view text) {
       return BeginsJson(text) &&
              (Has(text, "\"traceEvents\"") || (Has(text, "\"ph\"") && Has(text, "\"ts\"")));
     },
     "is a trace of Chrome (trace events); record a .cpuprofile, which is read here: \"Save "
     "profile\" of the JavaScript profiler, or `node --cpu-prof`"},
    {[](std::string_view text) {
       return BeginsJson(text) && Has(text, "\"meta\"") &&
              (Has(text, "\"preprocessedProfileVersion\"") || Has(text, "\"stackwalk\"") ||
               Has(text, "\"processType\""));
     },
     "is a profile of the Firefox Profiler, which is written here but not read; `samply record "
     "--unstable-presymbolicate` and perf record keep what it was made from"},
    {[](std::string_view text) { return text.starts_with("SQLite format 3"); },
     "is an SQLite database, as VTune and Nsight Systems write them; `vtune -report hotspots "
     "-format csv -group-by callstack` or `nsys stats` print their samples as text"},
    {[](std::string_view text) {
       return text.starts_with("<?xml") &&
              (Has(text, "trace-query-result") || Has(text, "<trace-toc"));
     },
     "is the XML of xctrace export (Instruments); `inferno-collapse-xctrace FILE` makes folded "
     "stacks of it"},
    {[](std::string_view text) {
       return text.starts_with("PID ") && (Has(text, "\nTID ") || Has(text, "\n#0 "));
     },
     "are stack traces of eu-stack, one of each thread and without a number; "
     "stackcollapse-elfutils.pl makes folded stacks of them"},
    {[](std::string_view text) { return text.starts_with("#0 ") || Has(text, "\n#0  0x"); },
     "are stack traces of gdb or pstack, without a number; stackcollapse-gdb.pl makes folded "
     "stacks "
     "of them"},
    {[](std::string_view text) { return text.starts_with("gmon"); },
     "is a profile of gprof (gmon.out), which has no stacks; record the program with "
     "perftape-record"},
    {[](std::string_view text) {
       return text.starts_with("Flat profile:") || Has(text, "Each sample counts as ");
     },
     "is a report of gprof, which has no stacks; record the program with perftape-record"},
    {[](std::string_view text) {
       return text.starts_with("# callgrind format") || Has(text.substr(0, 512), "\nevents: ");
     },
     "is a profile of callgrind, which has calls but no stacks; KCachegrind and callgrind_annotate "
     "show it"},
};

}  // namespace

std::optional<std::string> DescribeForeign(const Input& input) {
  if (perfdata::IsPerfData(input)) return {};
  if (input.is_directory()) {
    const std::string_view path = input.path().native();
    if (path.ends_with(".trace") || path.ends_with(".trace/")) {
      return "is a trace of Instruments; `xctrace export --input FILE --xpath "
             "'/trace-toc/*/data/table[@schema=\"time-profile\"]'` prints it, and "
             "inferno-collapse-xctrace makes folded stacks of that";
    }
    return "is a directory, and no perf.data of several files, which has a file 'data'";
  }
  const Bytes beginning = input.beginning().first(std::min(input.beginning().size(), kEnough));
  if (IsLegacyPprof(beginning)) {
    return "is a profile in one of pprof's old formats; `go tool pprof -proto FILE > out.pb.gz` "
           "makes one of it that is read here";
  }
  return {};
}

std::optional<std::string> DescribeUnread(const Input& input) {
  const Utf8Text text(input.beginning().first(std::min(input.beginning().size(), kEnough)));
  for (const KnownFormat& known : kKnownFormats) {
    if (known.is_one(text.view())) return std::string(known.description);
  }
  return {};
}

}  // namespace perftape::convert
