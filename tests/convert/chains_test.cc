// SPDX-License-Identifier: Apache-2.0
// Converts random profiles from format to format: all that the formats on the way can hold is the
// same at the end. All chains of three formats, which includes all six directions.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "convert/formats.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "formats/folded/folded.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

constexpr std::array<std::string_view, 3> kFormatNames = {"folded", "pprof", "perf.data"};

// The parts of a sample.
struct Hit {
  std::vector<std::string> names;  // root first
  std::uint32_t thread = 0;        // 0 is none
  std::int64_t count = 1;
  std::int64_t period = 1;
};

// Prints a Hit if rapidcheck fails.
std::ostream& operator<<(std::ostream& out, const Hit& hit) {
  return out << fmt::format("{} in thread {}: {} samples, period {}", hit.names, hit.thread,
                            hit.count, hit.period);
}

enum class Kind { kPlain, kSampledInThreads };

// Comms contain the separators between pid and tid in folded lines.
std::string CommOf(std::uint32_t thread) {
  return fmt::format("a-{}/b;%3B", thread);
}

// Returns a profile as one that was read from folded lines: names are in no file.
Profile ProfileOf(const std::vector<Hit>& hits, Kind kind) {
  ProfileBuilder builder;
  const bool is_plain = kind == Kind::kPlain;
  const MappingId user =
      builder.Add(Mapping{.filename = builder.Add(folded::kMappingName), .names = {true}});
  const MappingId kernel = builder.Add(Mapping{.filename = builder.Add(folded::kMarkedMappingName),
                                               .type = MappingType::kKernel,
                                               .names = {true}});
  const EventId event =
      builder.Add(Event{.name = builder.Add(is_plain ? "samples" : "cycles"),
                        .unit = builder.Add("count"),
                        .values = is_plain ? EventValues::kPlain : EventValues::kSampled});
  for (const Hit& hit : hits) {
    Sample sample = {.event = event, .count = is_plain ? 0 : hit.count, .period = hit.period};
    for (const std::string& name : hit.names) {
      const Line line = {.function = builder.Add(Function{.name = builder.Add(name)})};
      const bool is_kernel = name.ends_with(folded::kKernelMark);
      sample.stack = builder.Push(
          sample.stack,
          builder.Add(Location{.mapping = is_kernel ? kernel : user, .lines = {&line, 1}}));
    }
    if (!is_plain) {
      sample.thread = builder.Add(Thread{
          .pid = hit.thread / 2, .tid = hit.thread, .comm = builder.Add(CommOf(hit.thread))});
    }
    builder.Add(sample);
  }
  return std::move(builder).Finish();
}

// Writes the profile in that format and reads it back.
Profile Through(std::string_view format_name, const Profile& profile, Kind kind,
                const TempDir& scratch) {
  const Format* format = FindFormat(format_name);
  const folded::Root root = kind == Kind::kPlain ? folded::Root::kNone : folded::Root::kCommPidTid;
  WriteOptions write = {.if_exists = IfExists::kReplace};
  write.folded.root = root;
  write.folded.value = FoldedValue::kSamples;
  EXPECT_THAT(format->write(profile, write, scratch / "file"), IsOk());
  Input input = Input::Open(scratch / "file").value();
  EXPECT_EQ(DetectFormat(input), format);
  ImportReport report;
  Result<Profile> read = format->read(input, {.root = root}, report);
  EXPECT_THAT(read, IsOk());
  if (!read) return {};
  EXPECT_THAT(Validate(*read), IsOk());
  return *std::move(read);
}

// "comm 1/2: main|f" -> the sums of samples and periods, or of plain values. In folded lines
// numbers of samples become plain values.
using Sums = std::map<std::string, std::vector<std::int64_t>>;
Sums SumsOf(const Profile& profile, bool counts_only) {
  Sums sums;
  for (const Sample& sample : profile.samples()) {
    std::vector<std::string> names;
    for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
      for (const Line& line : profile[profile[at].leaf].lines) {
        names.emplace_back(profile.text(profile[line.function].name));
      }
    }
    std::ranges::reverse(names);
    const SampleThread thread = ThreadOf(profile, sample);
    const bool is_plain = profile[sample.event].values == EventValues::kPlain;
    const std::int64_t first = is_plain ? sample.period : sample.count;
    std::vector<std::int64_t>& sum =
        sums[fmt::format("{} {}/{}: {}", thread.comm, thread.pid.value_or(0),
                         thread.tid.value_or(0), fmt::join(names, "|"))];
    sum.resize(counts_only || is_plain ? 1 : 2);
    sum[0] += first;
    if (sum.size() > 1) sum[1] += sample.period;
  }
  return sums;
}

using Chain = std::vector<std::string_view>;

Sums SumsBehind(const Chain& chain, const std::vector<Hit>& hits, Kind kind) {
  const TempDir scratch;
  Profile profile = ProfileOf(hits, kind);
  for (const std::string_view format : chain) profile = Through(format, profile, kind, scratch);
  return SumsOf(profile, std::ranges::count(chain, "folded") != 0);
}

Sums SumsBefore(const Chain& chain, const std::vector<Hit>& hits, Kind kind) {
  return SumsOf(ProfileOf(hits, kind), std::ranges::count(chain, "folded") != 0);
}

std::vector<Chain> AllChains() {
  std::vector<Chain> chains;
  for (const std::string_view first : kFormatNames) {
    for (const std::string_view second : kFormatNames) {
      for (const std::string_view third : kFormatNames) chains.push_back({first, second, third});
    }
  }
  return chains;
}

TEST(Chains, OfThreeFormatsKeepWhatEachCanHold) {
  const std::vector<Hit> hits = {
      {{"main", "a;b", "x\ny", "read_[k]"}, 5, 3, 3000},
      {{"main", "a;b", "%3B"}, 5, 2, 7},
      {{"main", "a;b", "%3B"}, 7, 1, 1},
      {{"operator ", "id 7"}, 5, 4, 4},
      {{"id 7", "100%", "back\\slash", "f\xc3\xbcr"}, 6, 1, 9},
      {{"main"}, 7, 10, 5},
  };
  for (const Kind kind : {Kind::kPlain, Kind::kSampledInThreads}) {
    for (const Chain& chain : AllChains()) {
      EXPECT_EQ(SumsBehind(chain, hits, kind), SumsBefore(chain, hits, kind))
          << fmt::format("{}", fmt::join(chain, ", "));
    }
  }
}

rc::Gen<std::string> AnyName() {
  return rc::gen::nonEmpty(
      rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                       "main", "f", "::", ";", "\n", "\r", "\t", " ", "7", ".5", "%", "%3B", "25",
                       "20", "_[k]", "[unknown]", "-1/2", "<int>", "()", "\\", "'", "\"",
                       "\xc3\xbc", "\xf0\x9f\x98\x80", "\x1b")),
                   [](const std::vector<std::string>& pieces) {
                     return fmt::format("{}", fmt::join(pieces, ""));
                   }));
}

rc::Gen<std::vector<std::string>> AnyNames() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(AnyName()));
}

rc::Gen<std::vector<Hit>> AnyHits() {
  const auto hit = rc::gen::build<Hit>(
      rc::gen::set(&Hit::names, AnyNames()),
      rc::gen::set(&Hit::thread, rc::gen::inRange<std::uint32_t>(1, 6)),
      rc::gen::set(&Hit::count, rc::gen::inRange<std::int64_t>(1, 20)),
      rc::gen::set(&Hit::period, rc::gen::inRange<std::int64_t>(20, 1'000'000'000)));
  return rc::gen::resize(12, rc::gen::nonEmpty(rc::gen::container<std::vector<Hit>>(hit)));
}

rc::Gen<Chain> AnyChain() {
  return rc::gen::container<Chain>(3, rc::gen::elementOf(kFormatNames));
}

RC_GTEST_PROP(Chains, KeepAnyPlainValues, ()) {
  const std::vector<Hit> hits = *AnyHits();
  const Chain chain = *AnyChain();
  RC_ASSERT(SumsBehind(chain, hits, Kind::kPlain) == SumsBefore(chain, hits, Kind::kPlain));
}

RC_GTEST_PROP(Chains, KeepAnySamplesOfThreads, ()) {
  const std::vector<Hit> hits = *AnyHits();
  const Chain chain = *AnyChain();
  RC_ASSERT(SumsBehind(chain, hits, Kind::kSampledInThreads) ==
            SumsBefore(chain, hits, Kind::kSampledInThreads));
}

}  // namespace
}  // namespace perftape::convert
