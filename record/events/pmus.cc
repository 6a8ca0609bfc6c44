// SPDX-License-Identifier: Apache-2.0
#include "record/events/pmus.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <system_error>
#include <utility>

#include "formats/base/cpu_list.h"
#include "formats/base/regular_file.h"
#include "record/events/event_number.h"

namespace perftape::record {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> Corrupt(const fs::path& file, std::string_view content) {
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{}: unexpected content '{}'", file.string(), content));
}

// Returns the names of the entries, sorted; at most so many that a wrong directory does no harm.
std::vector<std::string> NamesIn(const fs::path& directory) {
  constexpr std::size_t kMost = 4096;
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; entry != end && names.size() < kMost;
       entry.increment(ignored)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// "imc_0" is the unit 0 of "imc".
bool IsUnitOf(std::string_view kind, std::string_view name) {
  if (!name.starts_with(kind) || name.size() < kind.size() + 2) return false;
  const std::string_view number = name.substr(kind.size() + 1);
  return name[kind.size()] == '_' && ParseNumberInBase(number, 10).has_value();
}

// "0-7" or "3"
std::optional<std::uint64_t> MaskOf(std::string_view range) {
  constexpr std::uint64_t kLastBit = 63;
  const std::size_t hyphen = range.find('-');
  const auto first = ParseNumberInBase(range.substr(0, hyphen), 10);
  const auto last =
      hyphen == std::string_view::npos ? first : ParseNumberInBase(range.substr(hyphen + 1), 10);
  if (!first || !last || *first > *last || *last > kLastBit) return {};
  return (~std::uint64_t{0} >> (kLastBit - (*last - *first))) << *first;
}

// The elements of a list, separated by commas.
std::vector<std::string_view> Elements(std::string_view list) {
  std::vector<std::string_view> elements;
  for (;;) {
    const std::size_t comma = list.find(',');
    elements.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return elements;
    list.remove_prefix(comma + 1);
  }
}

std::uint64_t perfdata::EventAttr::*WordOf(std::string_view name) {
  constexpr std::pair<std::string_view, std::uint64_t perfdata::EventAttr::*> kWords[] = {
      {"config", &perfdata::EventAttr::config},   {"config1", &perfdata::EventAttr::config1},
      {"config2", &perfdata::EventAttr::config2}, {"config3", &perfdata::EventAttr::config3},
      {"config4", &perfdata::EventAttr::config4},
  };
  for (const auto& [word, member] : kWords) {
    if (word == name) return member;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> Pmus::Names() const {
  return NamesIn(directory_);
}

std::vector<std::string> Pmus::Matching(std::string_view name) const {
  constexpr std::string_view kUncore = "uncore_";
  const std::vector<std::string> all = Names();
  if (std::ranges::binary_search(all, name)) return {std::string(name)};
  std::vector<std::string> matching;
  const std::string glob(name);
  for (const std::string& each : all) {
    std::string_view kind = each;
    if (kind.starts_with(kUncore) && !name.starts_with(kUncore)) kind.remove_prefix(kUncore.size());
    if (kind == name || IsUnitOf(name, kind) ||
        fnmatch(glob.c_str(), std::string(kind).c_str(), 0) == 0) {
      matching.push_back(each);
    }
  }
  return matching;
}

Result<std::vector<Pmu>> Pmus::HybridCores() const {
  std::vector<Pmu> cores;
  for (const std::string& name : Names()) {
    if (!name.starts_with("cpu_")) continue;
    TRY_ASSIGN(Pmu pmu, Read(name));
    if (pmu.is_hybrid_core) cores.push_back(std::move(pmu));
  }
  return cores;
}

Result<std::string> Pmus::ReadText(const fs::path& file) const {
  constexpr std::uint64_t kPage = 4096;  // the longest file of sysfs
  TRY_ASSIGN(std::string text, ReadRegularFile(directory_ / file, kPage));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text;
}

Result<Pmu> Pmus::Read(const std::string& name) const {
  const fs::path directory = name;
  TRY_ASSIGN(const std::string type, ReadText(directory / "type"));
  const std::optional<std::uint64_t> number = ParseNumberInBase(type, 10);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
    return Corrupt(directory_ / directory / "type", type);
  }
  Pmu pmu{.name = name, .type = static_cast<std::uint32_t>(*number)};
  for (const char* const list : {"cpus", "cpumask"}) {
    std::error_code ignored;
    if (!fs::exists(directory_ / directory / list, ignored)) continue;
    TRY_ASSIGN(const std::string text, ReadText(directory / list));
    // A kind of core of which no CPU is online.
    if (text.empty()) continue;
    Result<std::vector<int>> cpus = CpuListOf(text);
    if (!cpus) return Corrupt(directory_ / directory / list, text);
    pmu.cpus = *std::move(cpus);
    pmu.is_hybrid_core = std::string_view(list) == "cpus" && name.starts_with("cpu_");
    break;
  }
  return pmu;
}

std::vector<std::string> Pmus::FormatsOf(const Pmu& pmu) const {
  return NamesIn(directory_ / pmu.name / "format");
}

// Beside an event there are its unit and scale, for counting: "energy-pkg.unit".
std::vector<std::string> Pmus::EventsOf(const Pmu& pmu) const {
  std::vector<std::string> names = NamesIn(directory_ / pmu.name / "events");
  std::erase_if(names, [](const std::string& name) {
    return name.ends_with(".unit") || name.ends_with(".scale") || name.ends_with(".per-pkg") ||
           name.ends_with(".snapshot");
  });
  return names;
}

Result<std::optional<PmuFormat>> Pmus::FindFormat(const Pmu& pmu, const std::string& name) const {
  if (const auto word = WordOf(name)) return PmuFormat{.word = word, .bits = ~std::uint64_t{0}};
  if (!std::ranges::binary_search(FormatsOf(pmu), name)) return std::nullopt;
  const fs::path file = fs::path(pmu.name) / "format" / name;
  TRY_ASSIGN(const std::string text, ReadText(file));
  const std::size_t colon = text.find(':');
  PmuFormat format{.word = WordOf(std::string_view(text).substr(0, colon))};
  if (format.word == nullptr || colon == std::string::npos) {
    return Corrupt(directory_ / file, text);
  }
  for (const std::string_view range : Elements(std::string_view(text).substr(colon + 1))) {
    const std::optional<std::uint64_t> mask = MaskOf(range);
    if (!mask) return Corrupt(directory_ / file, text);
    format.bits |= *mask;
  }
  return format;
}

Result<std::vector<PmuTerm>> Pmus::ReadEvent(const Pmu& pmu, const std::string& name) const {
  const fs::path file = fs::path(pmu.name) / "events" / name;
  TRY_ASSIGN(const std::string text, ReadText(file));
  std::vector<PmuTerm> terms;
  for (const std::string_view element : Elements(text)) {
    const std::size_t equals = element.find('=');
    PmuTerm term{.key = std::string(element.substr(0, equals))};
    if (term.key.empty()) return Corrupt(directory_ / file, text);
    if (equals == std::string_view::npos) {
      term.value = 1;
    } else if (element.substr(equals + 1) != "?") {  // which the user must give
      term.value = ParseEventNumber(element.substr(equals + 1));
      if (!term.value) return Corrupt(directory_ / file, text);
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

Status Store(std::uint64_t value, const PmuFormat& format, perfdata::EventAttr& attr) {
  const int width = std::popcount(format.bits);
  if (width < std::numeric_limits<std::uint64_t>::digits && value >> width != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the value is too large: the largest is {:#x}",
                            (std::uint64_t{1} << width) - 1));
  }
  std::uint64_t& word = attr.*format.word;
  word &= ~format.bits;
  for (std::uint64_t left = format.bits; left != 0; left &= left - 1) {
    if ((value & 1) != 0) word |= left & -left;
    value >>= 1;
  }
  return {};
}

}  // namespace perftape::record
