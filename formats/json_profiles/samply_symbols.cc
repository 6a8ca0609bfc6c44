// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/samply_symbols.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "formats/json/walk.h"

namespace perftape::json_profiles {
namespace {

enum SamplyPart : json::Node {
  kSamplyRoot,
  kSamplyStrings,
  kSamplyString,
  kSamplyData,
  kSamplyBinary,
  kSamplyDebugId,
  kSamplySymbols,
  kSamplySymbol,
  kSamplyName,
  kSamplyFrames,
  kSamplyFrame,
  kSamplyFunction,
  kSamplyFile,
  kSamplyLine,
  kSamplyKnownAddresses,
  kSamplyKnownAddress,
  kSamplyKnownPart,
};

constexpr json::Rule kSamplyRules[] = {
    {kSamplyKnownAddress, "*", kSamplyKnownPart},
    {kSamplyKnownAddresses, "*", kSamplyKnownAddress},
    {kSamplySymbols, "*", kSamplySymbol},
    {kSamplySymbol, "symbol", kSamplyName},
    {kSamplySymbol, "frames", kSamplyFrames},
    {kSamplyFrames, "*", kSamplyFrame},
    {kSamplyFrame, "function", kSamplyFunction},
    {kSamplyFrame, "file", kSamplyFile},
    {kSamplyFrame, "line", kSamplyLine},
    {kSamplyRoot, "string_table", kSamplyStrings},
    {kSamplyStrings, "*", kSamplyString},
    {kSamplyRoot, "data", kSamplyData},
    {kSamplyData, "*", kSamplyBinary},
    {kSamplyBinary, "debug_id", kSamplyDebugId},
    {kSamplyBinary, "symbol_table", kSamplySymbols},
    {kSamplyBinary, "known_addresses", kSamplyKnownAddresses},
};

// Returns the 32 hexadecimal digits of an id in lower case, without hyphens and without the age
// that follows them in the form of breakpad.
std::string DigitsOf(std::string_view id) {
  constexpr std::size_t kDigits = 32;
  std::string digits;
  for (const char c : id) {
    if (c == '-') continue;
    if (digits.size() == kDigits) break;
    digits.push_back('A' <= c && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return digits;
}

}  // namespace

class SamplyVisitor final : public json::Visitor {
 public:
  SamplySymbols Finish() && { return std::move(symbols_); }

  void Begin(json::Node part) override {
    if (part == kSamplyBinary) {
      binary_ = {};
      id_.clear();
    }
    if (part == kSamplySymbol) binary_.symbols.emplace_back();
    if (part == kSamplyFrame) binary_.symbols.back().frames.emplace_back();
    if (part == kSamplyKnownAddress) known_.clear();
  }

  void End(json::Node part) override {
    if (part == kSamplyBinary) symbols_.binaries_.insert_or_assign(id_, std::move(binary_));
    if (part == kSamplyKnownAddress && known_.size() == 2) {
      binary_.known_addresses.insert_or_assign(known_[0], known_[1]);
    }
  }

  void Number(json::Node part, const json::Number& number) override {
    switch (part) {
      case kSamplyName:
        binary_.symbols.back().name = number.integer;
        return;
      case kSamplyFunction:
        binary_.symbols.back().frames.back().function = number.integer;
        return;
      case kSamplyFile:
        binary_.symbols.back().frames.back().file = number.integer;
        return;
      case kSamplyLine:
        binary_.symbols.back().frames.back().line = number.integer;
        return;
      case kSamplyKnownPart:
        if (known_.size() < 3) known_.push_back(number.integer);
        return;
      default:
        return;
    }
  }

  void String(json::Node part, std::string_view text) override {
    if (part == kSamplyString) symbols_.strings_.emplace_back(text);
    if (part == kSamplyDebugId) id_ = DigitsOf(text);
  }

 private:
  SamplySymbols symbols_;
  SamplySymbols::Binary binary_;
  std::string id_;
  std::vector<std::int64_t> known_;
};

Result<SamplySymbols> SamplySymbols::Parse(std::string_view text) {
  SamplyVisitor visitor;
  TRY(json::Walk(text, kSamplyRules, visitor));
  return std::move(visitor).Finish();
}

std::string_view SamplySymbols::TextOf(std::int64_t index) const {
  const bool is_in = index >= 0 && static_cast<std::uint64_t>(index) < strings_.size();
  return is_in ? std::string_view(strings_[static_cast<std::size_t>(index)]) : std::string_view();
}

std::vector<SamplyFrame> SamplySymbols::Find(std::string_view breakpad_id,
                                             std::int64_t address) const {
  const auto binary = binaries_.find(DigitsOf(breakpad_id));
  if (binary == binaries_.end()) return {};
  const auto known = binary->second.known_addresses.find(address);
  if (known == binary->second.known_addresses.end()) return {};
  const auto& symbols = binary->second.symbols;
  const auto index = static_cast<std::uint64_t>(known->second);
  if (index >= symbols.size()) return {};
  const Symbol& symbol = symbols[static_cast<std::size_t>(index)];
  std::vector<SamplyFrame> frames;
  for (const Frame& frame : symbol.frames) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const auto line = static_cast<std::uint32_t>(std::clamp<std::int64_t>(frame.line, 0, kMost));
    frames.push_back(
        {.function = TextOf(frame.function), .file = TextOf(frame.file), .line = line});
  }
  if (frames.empty()) frames.push_back({.function = TextOf(symbol.name), .file = {}});
  // A name that the text does not have is none.
  std::erase_if(frames, [](const SamplyFrame& frame) { return frame.function.empty(); });
  return frames;
}

}  // namespace perftape::json_profiles
