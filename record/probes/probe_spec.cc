// SPDX-License-Identifier: Apache-2.0
#include "record/probes/probe_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace perftape::record {
namespace {

// The last component may contain colons (C++).
constexpr ProbeUsage kUsages[] = {
    {ProbeKind::kUprobe, "uprobe", "uprobe:PATH:FUNCTION[+OFFSET]", 2,
     "a call of a function of a program or library, or an instruction in it"},
    {ProbeKind::kUretprobe, "uretprobe", "uretprobe:PATH:FUNCTION", 2,
     "a return from a function of a program or library"},
    {ProbeKind::kUsdt, "usdt", "usdt:PATH:PROVIDER:NAME", 3,
     "a static probe of a program or library"},
    {ProbeKind::kKprobe, "kprobe", "kprobe:FUNCTION[+OFFSET]", 1,
     "a call of a function of the kernel, or an instruction in it"},
    {ProbeKind::kKretprobe, "kretprobe", "kretprobe:FUNCTION", 1,
     "a return from a function of the kernel"},
    {ProbeKind::kFentry, "fentry", "fentry:FUNCTION", 1,
     "a call of a function of the kernel, faster than a kprobe"},
    {ProbeKind::kFexit, "fexit", "fexit:FUNCTION", 1,
     "a return from a function of the kernel, faster than a kretprobe"},
};

const ProbeUsage& UsageOf(ProbeKind kind) {
  return kUsages[std::to_underlying(kind)];
}

std::unexpected<Error> FailSyntax(std::string_view name, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("event '{}': {}", name, what));
}

// Removes the component before the next colon from `rest` and returns it.
std::string_view SplitOffComponent(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  const std::string_view component = rest.substr(0, colon);
  rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  return component;
}

// Whether the slash at the start of `text` begins options: "/every=50/" up to a comma or the end.
// The import paths of Go have slashes, too: "github.com/pkg/errors.New".
bool BeginsOptions(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", 1);
  if (end == std::string_view::npos) return text.size() == 1;
  if (text[end] == '=') return end > 1;
  return text[end] == '/' && (end + 1 == text.size() || text[end + 1] == ',');
}

// "malloc+0x10". A name of C++ may contain a plus sign: "operator+".
Status ParseOffset(std::string_view name, ProbeSpec& probe) {
  const std::size_t plus = probe.symbol.rfind('+');
  if (plus == std::string::npos) return {};
  std::string_view digits = std::string_view(probe.symbol).substr(plus + 1);
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return {};
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, probe.offset, is_hex ? 16 : 10);
  if (error != std::errc() || stopped != end) {
    return FailSyntax(name, "the offset after '+' is not a number");
  }
  if (probe.offset != 0 && probe.kind != ProbeKind::kUprobe && probe.kind != ProbeKind::kKprobe) {
    return FailSyntax(name, fmt::format("a {} has no offset", WordOf(probe.kind)));
  }
  probe.symbol.resize(plus);
  return {};
}

constexpr std::string_view kOperator = "operator";

// The length of the symbol of an operator of C++ at the start of `text`, the longer ones first. Its
// brackets have no counterpart, and its comma and slash separate nothing.
std::size_t LengthOfSymbol(std::string_view text) {
  constexpr std::string_view kSymbols[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=",
                                           "->",  "()",  "[]",  "/=",  "<",  ">",  ",",  "/"};
  for (const std::string_view symbol : kSymbols) {
    if (!text.starts_with(symbol)) continue;
    // "operator/every=2/" is "operator" with an option; no operator is followed by a letter.
    return symbol == "/" && BeginsOptions(text) ? 0 : symbol.size();
  }
  return 0;
}

// ":u" and ":k" of other events.
bool EndsWithModifier(std::string_view symbol) {
  const std::size_t colon = symbol.rfind(':');
  if (colon == std::string_view::npos || colon + 2 != symbol.size()) return false;
  const bool is_scope = colon > 0 && symbol[colon - 1] == ':';
  return !is_scope && (symbol.back() == 'u' || symbol.back() == 'k');
}

}  // namespace

std::span<const ProbeUsage> ProbeUsages() {
  return kUsages;
}

std::string_view WordOf(ProbeKind kind) {
  return UsageOf(kind).word;
}

bool IsInKernel(ProbeKind kind) {
  return UsageOf(kind).components == 1;
}

bool IsTrampoline(ProbeKind kind) {
  return kind == ProbeKind::kFentry || kind == ProbeKind::kFexit;
}

std::optional<ProbeKind> ProbeKindOf(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto* const found = std::ranges::find(kUsages, name.substr(0, colon), &ProbeUsage::word);
  if (found == std::end(kUsages)) return std::nullopt;
  return found->kind;
}

std::size_t LengthOfProbe(std::string_view list) {
  int colons = UsageOf(ProbeKindOf(list).value()).components;
  int depth = 0;  // of parentheses and angle brackets, in a name of C++
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char letter = list[at];
    if (letter == ':' && colons > 0) {
      --colons;
    } else if (colons == 0 && list.substr(at).starts_with(kOperator)) {
      at += kOperator.size() + LengthOfSymbol(list.substr(at + kOperator.size()));
      --at;
    } else if (letter == '(' || letter == '<') {
      ++depth;
    } else if (letter == ')' || (letter == '>' && (at == 0 || list[at - 1] != '-'))) {
      --depth;
    } else if (depth <= 0 && letter == ',') {
      return at;
    } else if (depth <= 0 && letter == '/' && colons == 0 && BeginsOptions(list.substr(at))) {
      return at;
    }
  }
  return list.size();
}

Result<ProbeSpec> ParseProbe(std::string_view name) {
  ProbeSpec probe{.kind = ProbeKindOf(name).value()};
  const ProbeUsage& syntax = UsageOf(probe.kind);
  std::string_view rest = name.substr(syntax.word.size() + 1);
  if (syntax.components > 1) probe.file = SplitOffComponent(rest);
  if (syntax.components > 2) probe.provider = SplitOffComponent(rest);
  probe.symbol = rest;
  // "usdt:PATH:*" is all its probes.
  if (probe.symbol.empty() && probe.provider == "*") probe.symbol = "*";
  const bool is_complete = !probe.symbol.empty() &&
                           (syntax.components < 2 || !probe.file.empty()) &&
                           (syntax.components < 3 || !probe.provider.empty());
  if (!is_complete) return FailSyntax(name, fmt::format("write {}", syntax.usage));
  if (EndsWithModifier(probe.symbol)) {
    return FailSyntax(name,
                      fmt::format("a {} takes no modifiers: all its hits are in {}", syntax.word,
                                  IsInKernel(probe.kind) ? "the kernel" : "user code"));
  }
  if (probe.kind != ProbeKind::kUsdt) TRY(ParseOffset(name, probe));
  return probe;
}

}  // namespace perftape::record
