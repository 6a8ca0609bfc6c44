// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/conventions.h"

#include <algorithm>
#include <iterator>

namespace perftape::otlp {
namespace {

constexpr std::string_view kResourcePrefixes[] = {
    "cloud.", "container.", "deployment.", "device.",  "faas.",      "host.",
    "k8s.",   "os.",        "process.",    "service.", "telemetry.",
};

struct UnitPair {
  std::string_view word, ucum;
};

constexpr UnitPair kUnits[] = {
    {"nanoseconds", "ns"}, {"microseconds", "us"}, {"milliseconds", "ms"}, {"seconds", "s"},
    {"minutes", "min"},    {"hours", "h"},         {"bytes", "By"},        {"count", "1"},
    {"percent", "%"},      {"hertz", "Hz"},
};

// Units of UCUM for which there is no word.
constexpr std::string_view kKept[] = {"KiBy", "MiBy", "GiBy", "kBy", "MBy", "GBy"};

}  // namespace

bool IsServiceAttribute(std::string_view key) {
  return std::ranges::find(kServiceAttributes, key) != std::end(kServiceAttributes);
}

bool IsOfResource(std::string_view key) {
  return std::ranges::any_of(kResourcePrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

std::string UcumOfUnit(std::string_view unit) {
  if (unit.empty()) return {};
  const auto* const known = std::ranges::find(kUnits, unit, &UnitPair::word);
  if (known != std::end(kUnits)) return std::string(known->ucum);
  if (std::ranges::find(kKept, unit) != std::end(kKept)) return std::string(unit);
  return '{' + std::string(unit) + '}';
}

std::string_view UnitOfUcum(std::string_view ucum) {
  if (ucum.size() > 2 && ucum.front() == '{' && ucum.back() == '}') {
    return ucum.substr(1, ucum.size() - 2);
  }
  const auto* const known = std::ranges::find(kUnits, ucum, &UnitPair::ucum);
  return known == std::end(kUnits) ? ucum : known->word;
}

}  // namespace perftape::otlp
