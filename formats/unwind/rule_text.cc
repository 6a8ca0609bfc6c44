// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/rule_text.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "formats/base/bytes.h"

namespace perftape::unwind {
namespace {

std::string NameOf(std::uint8_t number, const RegisterNames& names) {
  if (number < names.general.size()) return std::string(names.general[number]);
  return fmt::format("r{}?", number);
}

// The base and the index of a rule.
std::string SumText(const Rule& rule, const RegisterNames& names) {
  const std::string base = NameOf(rule.base, names);
  if (rule.scale == 0) return base;
  return fmt::format("{}+{}*{}", base, rule.scale, NameOf(rule.index, names));
}

std::string CfaText(const Rule& rule, const RegisterNames& names) {
  const auto at = [&](std::string_view name) {
    const std::string addend = rule.addend == 0 ? "" : fmt::format("+{}", rule.addend);
    return fmt::format("*({}{:+}){}", name, rule.cfa_offset, addend);
  };
  switch (rule.cfa) {
    case CfaRule::kNone:
      return "none";
    case CfaRule::kUnsupported:
      return "unsupported";
    case CfaRule::kEndOfStack:
      return "end";
    case CfaRule::kStackPointer:
      return fmt::format("{}{:+}", names.sp, rule.cfa_offset);
    case CfaRule::kFramePointer:
      return fmt::format("{}{:+}", names.fp, rule.cfa_offset);
    case CfaRule::kAtStackPointer:
      return at(names.sp);
    case CfaRule::kAtFramePointer:
      return at(names.fp);
    case CfaRule::kPlt:
      return fmt::format("{}{:+},+8@{}", names.sp, rule.cfa_offset, rule.addend);
    case CfaRule::kRegister:
      return fmt::format("{}{:+}", SumText(rule, names), rule.cfa_offset);
    case CfaRule::kAtRegister:
      return at(SumText(rule, names));
  }
  return "?";
}

std::string SavedText(std::int32_t offset, std::string_view base, std::string_view in_register) {
  if (offset == Rule::kInRegister) return std::string(in_register);
  return fmt::format("{}{:+}", base, offset);
}

std::string BaseRegisterText(std::int8_t words, std::string_view in_register) {
  if (words == Rule::kBxUnchanged) return std::string(in_register);
  if (words == Rule::kBxUnknown) return "?";
  constexpr int kWord = kWordSize;
  return fmt::format("c{:+}", words * kWord);
}

std::string FlagText(const Rule& rule) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
      {Rule::kSignalFrame, "signal"},
      {Rule::kSignedReturn, "signed"},
      {Rule::kInGap, "unsure"},
      {Rule::kDerived, "derived"},
      {Rule::kOtherStack, "other stack"}};
  std::string text;
  for (const auto& [flag, name] : kNames) {
    if ((rule.flags & flag) == 0) continue;
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}

}  // namespace

RegisterNames RegisterNamesOf(Machine machine) {
  if (machine == Machine::kX86_64) {
    static constexpr std::string_view kGeneral[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                    "r12", "r13", "r14", "r15"};
    return {.sp = "rsp",
            .fp = "rbp",
            .link = "rdi",
            .base = "rbx",
            .count = "rcx",
            .general = kGeneral};
  }
  static constexpr std::string_view kGeneral[] = {
      "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
      "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
      "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
  return {.sp = "sp", .fp = "x29", .link = "x30", .base = "-", .count = "-", .general = kGeneral};
}

RuleText TextOf(const Rule& rule, const RegisterNames& names) {
  RuleText text = {
      .cfa = CfaText(rule, names), .fp = {}, .ra = {}, .bx = {}, .flags = FlagText(rule)};
  if (rule.cfa == CfaRule::kNone || rule.cfa == CfaRule::kUnsupported ||
      rule.cfa == CfaRule::kEndOfStack) {
    text.flags.clear();
    return text;
  }
  const std::string_view base = (rule.flags & Rule::kFromStackPointer) != 0 ? names.sp : "c";
  const std::string_view fp_base = (rule.flags & Rule::kFpFromFp) != 0 ? names.fp : base;
  text.fp = SavedText(rule.fp_offset, fp_base, names.fp);
  const bool in_cx = (rule.flags & Rule::kReturnInCx) != 0;
  text.ra = SavedText(rule.ra_offset, base, in_cx ? names.count : names.link);
  text.bx = BaseRegisterText(rule.bx_words, names.base);
  return text;
}

}  // namespace perftape::unwind
