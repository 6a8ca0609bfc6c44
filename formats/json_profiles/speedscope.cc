// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/speedscope.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace perftape::json_profiles {
namespace {

enum SpeedscopePart : json::Node {
  kFile,
  kExporter,
  kShared,
  kFrames,
  kFrame,
  kFrameName,
  kFrameFile,
  kFrameLine,
  kProfiles,
  kProfile,
  kType,
  kName,
  kUnit,
  kSamples,
  kSample,
  kSampleFrame,
  kWeights,
  kWeight,
  kEvents,
  kEvent,
  kEventType,
  kEventFrame,
  kEventAt,
};

constexpr json::Rule kSpeedscopeRules[] = {
    {kFile, "exporter", kExporter},  {kFile, "shared", kShared},   {kFile, "profiles", kProfiles},
    {kShared, "frames", kFrames},    {kFrames, "*", kFrame},       {kFrame, "name", kFrameName},
    {kFrame, "file", kFrameFile},    {kFrame, "line", kFrameLine}, {kProfiles, "*", kProfile},
    {kProfile, "type", kType},       {kProfile, "name", kName},    {kProfile, "unit", kUnit},
    {kProfile, "samples", kSamples}, {kSamples, "*", kSample},     {kSample, "*", kSampleFrame},
    {kProfile, "weights", kWeights}, {kWeights, "*", kWeight},     {kProfile, "events", kEvents},
    {kEvents, "*", kEvent},          {kEvent, "type", kEventType}, {kEvent, "frame", kEventFrame},
    {kEvent, "at", kEventAt},
};

// An index out of range stays out of range.
std::uint32_t IndexOf(const json::Number& number) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(number.integer < 0 ? kMost : std::min(number.integer, kMost));
}

class SpeedscopeVisitor final : public json::Visitor {
 public:
  SpeedscopeFile file;

  void Begin(json::Node node) override {
    if (node == kFrame) file.frames.emplace_back();
    if (node == kProfile) file.profiles.emplace_back();
    if (node == kEvent && has_profile()) profile().events.emplace_back();
  }

  void End(json::Node node) override {
    if (node == kSample) profile().ends.push_back(profile().frames.size());
  }

  void Number(json::Node node, const json::Number& number) override {
    switch (node) {
      case kFrameLine:
        file.frames.back().line = number.integer;
        return;
      case kSampleFrame:
        return profile().frames.push_back(IndexOf(number));
      case kWeight:
        return profile().weights.push_back(number);
      case kEventFrame:
        profile().events.back().frame = IndexOf(number);
        return;
      case kEventAt:
        profile().events.back().at = number;
        return;
      default:
        return;
    }
  }

  void String(json::Node node, std::string_view text) override {
    switch (node) {
      case kExporter:
        file.exporter = text;
        return;
      case kFrameName:
        file.frames.back().name = text;
        return;
      case kFrameFile:
        file.frames.back().file = text;
        return;
      case kType:
        profile().type = text;
        return;
      case kName:
        profile().name = text;
        return;
      case kUnit:
        profile().unit = text;
        return;
      case kEventType:
        profile().events.back().opens = text == "O";
        return;
      default:
        return;
    }
  }

 private:
  // The rules lead to parts of a profile or a frame only below one. But any of them can be a value
  // instead of an object, or an object instead of an array: then Begin of its parent was called.
  bool has_profile() const { return !file.profiles.empty(); }
  SpeedscopeProfile& profile() { return file.profiles.back(); }
};

}  // namespace

bool IsSpeedscope(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && beginning[start] == '{' &&
         beginning.find("https://www.speedscope.app/file-format-schema.json") !=
             std::string_view::npos;
}

Result<SpeedscopeFile> ReadSpeedscopeFile(std::string_view text) {
  SpeedscopeVisitor visitor;
  TRY(json::Walk(text, kSpeedscopeRules, visitor));
  return std::move(visitor.file);
}

}  // namespace perftape::json_profiles
