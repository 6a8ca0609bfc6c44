// SPDX-License-Identifier: Apache-2.0
#include "convert/formats.h"

#include <algorithm>
#include <array>

#include "convert/import/from_perfdata.h"
#include "formats/perfdata/reader.h"

namespace perftape {
namespace {

constexpr std::array<std::string_view, 1> kPerfDataEndings = {".data"};
constexpr std::array<std::string_view, 2> kFoldedEndings = {".folded", ".collapsed"};
constexpr std::array<std::string_view, 3> kPprofEndings = {".pb.gz", ".pb", ".pprof"};

constexpr std::array kFormats = {
    Format{.name = "perf.data",
           .endings = kPerfDataEndings,
           .matches = perfdata::IsPerfData,
           .read = ReadPerfData,
           .rewrite = rewrite::Normalize,
           .write = nullptr},
    Format{.name = "folded",
           .endings = kFoldedEndings,
           .matches = nullptr,
           .read = nullptr,
           .rewrite = nullptr,
           .write = [](const Profile& profile, const WriteOptions& options,
                       OutputFile& out) { return WriteFolded(profile, options.folded, out); }},
    Format{.name = "pprof",
           .endings = kPprofEndings,
           .matches = nullptr,
           .read = nullptr,
           .rewrite = nullptr,
           .write = [](const Profile& profile, const WriteOptions& options,
                       OutputFile& out) { return WritePprof(profile, options.pprof, out); }},
};

}  // namespace

std::span<const Format> AllFormats() {
  return kFormats;
}

const Format* DetectFormat(const Input& input) {
  const auto* format = std::ranges::find_if(
      kFormats, [&](const Format& f) { return f.matches != nullptr && f.matches(input); });
  return format == kFormats.end() ? nullptr : format;
}

const Format* FindFormat(std::string_view name) {
  const auto* format = std::ranges::find(kFormats, name, &Format::name);
  return format == kFormats.end() ? nullptr : format;
}

const Format* FormatByEnding(std::string_view path) {
  const Format* best = nullptr;
  std::size_t longest = 0;
  for (const Format& format : kFormats) {
    for (const std::string_view ending : format.endings) {
      if (ending.size() <= longest || !path.ends_with(ending)) continue;
      longest = ending.size();
      best = &format;
    }
  }
  return best;
}

}  // namespace perftape
