// SPDX-License-Identifier: Apache-2.0
#include "record/probes/function_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "formats/base/file.h"
#include "formats/demangle/demangle.h"
#include "record/machine/did_you_mean.h"

namespace perftape::record {
namespace {

using demangle::Demangle;
using demangle::Demangling;

bool IsDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool IsNotAscii(char letter) {
  return static_cast<unsigned char>(letter) >= 0x80;
}

bool IsOfIdentifier(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         IsNotAscii(letter);
}

struct CloneWord {
  std::string_view word;
  CloneKind kind;
};

constexpr CloneWord kCloneWords[] = {
    {".constprop", CloneKind::kWhole}, {".isra", CloneKind::kWhole},
    {".lto_priv", CloneKind::kWhole},  {".localalias", CloneKind::kWhole},
    {".clone", CloneKind::kWhole},     {".llvm", CloneKind::kWhole},
    {".__uniq", CloneKind::kWhole},    {".part", CloneKind::kPart},
    {".cold", CloneKind::kCold},       {".warm", CloneKind::kCold},
};

// Returns `text` without a number and its dot at the end.
std::string_view WithoutNumber(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && IsDigit(rest.back())) rest.remove_suffix(1);
  const bool has_number = rest.size() < text.size() && rest.ends_with('.');
  return has_number ? rest.substr(0, rest.size() - 1) : text;
}

void ReplaceAll(std::string& text, std::string_view old, std::string_view replacement) {
  for (std::size_t at = text.find(old); at != text.npos;
       at = text.find(old, at + replacement.size())) {
    text.replace(at, old.size(), replacement);
  }
}

constexpr std::string_view kConst = "const";

// Keeps a blank only between two identifiers: "unsigned int", "operator new". None is before
// "const", which may follow an identifier or a bracket.
std::string WithoutBlanks(std::string_view text) {
  std::string out;
  bool had_blank = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == ' ' || letter == '\t') {
      had_blank = true;
      continue;
    }
    const std::string_view rest = text.substr(at);
    const bool is_const = rest.starts_with(kConst) &&
                          (rest.size() == kConst.size() || !IsOfIdentifier(rest[kConst.size()]));
    const bool separates = had_blank && !out.empty() && IsOfIdentifier(out.back()) &&
                           IsOfIdentifier(letter) && !is_const;
    if (separates) out += ' ';
    had_blank = false;
    out += letter;
  }
  return out;
}

// The position of the bracket that closes the one at `open`; npos if none does.
std::size_t ClosingBracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '[') ++depth;
    if (text[at] == ']' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// Removes "[abi:cxx11]", and replaces the type arguments of Go by dots, as Go's tracebacks do.
void ReplaceBrackets(std::string& text) {
  for (std::size_t open = text.find('['); open != text.npos; open = text.find('[', open)) {
    const std::size_t close = ClosingBracket(text, open);
    if (close == text.npos) return;
    const std::string_view content = std::string_view(text).substr(open + 1, close - open - 1);
    if (content.starts_with("abi:")) {
      text.erase(open, close - open + 1);
      continue;
    }
    if (content.starts_with("go.shape.") || content.contains('/')) {
      text.replace(open + 1, content.size(), "...");
    }
    ++open;
  }
}

// The end of the type that begins at `at`: "unsigned long", "std::vector<int>".
std::size_t EndOfType(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 7> kWords = {"unsigned", "signed", "long",  "short",
                                                      "int",      "char",   "double"};
  while (at < text.size()) {
    const std::size_t start = at;
    while (at < text.size() && (IsOfIdentifier(text[at]) || text[at] == ':')) ++at;
    const std::string_view word = text.substr(start, at - start);
    if (at < text.size() && text[at] == '<') {
      int depth = 0;
      for (; at < text.size(); ++at) {
        if (text[at] == '<') ++depth;
        if (text[at] == '>' && --depth == 0) {
          ++at;
          break;
        }
      }
      if (at < text.size() && text[at] == ':') continue;
      return at;
    }
    const bool goes_on =
        at < text.size() && text[at] == ' ' && std::ranges::find(kWords, word) != kWords.end();
    if (!goes_on) return at;
    ++at;
  }
  return at;
}

// "(const char*)" becomes "(char const*)", as demanglers write it.
void MoveConst(std::string& text) {
  for (std::size_t at = text.find(kConst); at != text.npos; at = text.find(kConst, at + 1)) {
    const std::size_t end = at + kConst.size();
    const bool begins_type = at > 0 && std::string_view("(,<").contains(text[at - 1]) &&
                             end < text.size() && text[end] == ' ';
    if (!begins_type) continue;
    text.erase(at, kConst.size() + 1);
    const std::size_t type_end = EndOfType(text, at);
    text.insert(type_end, kConst);
  }
}

// "Cart::add(int) const" without what follows its parameters.
std::string_view WithoutQualifiers(std::string_view signature) {
  const std::size_t close = signature.rfind(')');
  return close == std::string_view::npos ? signature : signature.substr(0, close + 1);
}

// "<alloc::vec::Vec<u8>>::push" is "alloc::vec::Vec<u8>::push" in the source; "<T as Trait>::f" is
// not.
std::string WithoutOuterBrackets(std::string_view name) {
  if (!name.starts_with('<')) return std::string(name);
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++depth;
    if (name[at] == '>' && name[at - 1] != '-' && --depth == 0) {
      const std::string_view inner = name.substr(1, at - 1);
      if (inner.contains(" as ")) return std::string(name);
      return std::string(inner).append(name.substr(at + 1));
    }
  }
  return std::string(name);
}

bool IsMangled(std::string_view symbol) {
  return symbol.starts_with("_Z") || symbol.starts_with("_R") || symbol.starts_with("_D");
}

class Spellings {
 public:
  void Add(std::string_view name) {
    std::string canonical = CanonicalName(name);
    if (std::ranges::find(names_, canonical) == names_.end()) {
      names_.push_back(std::move(canonical));
    }
  }
  std::vector<std::string> Take() && { return std::move(names_); }

 private:
  std::vector<std::string> names_;
};

}  // namespace

CloneName SplitClone(std::string_view symbol) {
  CloneName clone{.base = symbol, .suffix = {}, .kind = CloneKind::kNone};
  while (true) {
    const std::string_view named = WithoutNumber(clone.base);
    const auto* const found = std::ranges::find_if(kCloneWords, [&](const CloneWord& word) {
      return named.ends_with(word.word) && named.size() > word.word.size();
    });
    if (found == std::end(kCloneWords)) break;
    clone.base = named.substr(0, named.size() - found->word.size());
    clone.kind = std::max(clone.kind, found->kind);
  }
  clone.suffix = symbol.substr(clone.base.size());
  return clone;
}

std::string CanonicalName(std::string_view name) {
  std::string text = WithoutBlanks(name);
  ReplaceBrackets(text);
  ReplaceAll(text, "std::__cxx11::", "std::");
  ReplaceAll(text, "std::basic_string<char,std::char_traits<char>,std::allocator<char>>",
             "std::string");
  ReplaceAll(text, "{anonymous}", "(anonymous namespace)");
  ReplaceAll(text, "<unnamed>", "(anonymous namespace)");
  ReplaceAll(text, "(void)", "()");
  ReplaceAll(text, "%2e", ".");
  MoveConst(text);
  return text;
}

std::vector<std::string> SpellingsOf(std::string_view symbol) {
  Spellings spellings;
  if (!IsMangled(symbol)) {
    spellings.Add(symbol);
    std::string without_arguments = CanonicalName(symbol);
    ReplaceAll(without_arguments, "[...]", "");
    spellings.Add(without_arguments);
    return std::move(spellings).Take();
  }
  const std::string mangled(symbol);
  const std::string templates = Demangle(mangled, Demangling::kTemplates);
  const std::string simple = Demangle(mangled, Demangling::kSimple);
  const std::string signature = Demangle(mangled, Demangling::kSignature);
  spellings.Add(templates);
  spellings.Add(simple);
  spellings.Add(signature);
  spellings.Add(WithoutQualifiers(signature));
  spellings.Add(Demangle(mangled, Demangling::kFull));
  if (signature.starts_with(templates)) {
    const std::string parameters = signature.substr(templates.size());
    spellings.Add(simple + parameters);
    spellings.Add(WithoutQualifiers(simple + parameters));
  }
  for (const std::string& name : {templates, simple}) spellings.Add(WithoutOuterBrackets(name));
  const std::string with_hashes = demangle::DemangleWithHashes(mangled);
  if (with_hashes != mangled) spellings.Add(with_hashes);
  return std::move(spellings).Take();
}

bool IsSpellingOf(std::string_view canonical, std::string_view symbol) {
  const std::vector<std::string> spellings = SpellingsOf(symbol);
  return std::ranges::find(spellings, canonical) != spellings.end();
}

std::string ReadableName(std::string_view symbol) {
  const std::string name(symbol);
  return IsMangled(symbol) ? Demangle(name, Demangling::kSignature) : name;
}

std::string_view NecessaryIdentifier(std::string_view name) {
  // Words that the mangled form of a name abbreviates.
  constexpr std::string_view kAbbreviated[] = {"anonymous",
                                               "namespace",
                                               "operator",
                                               "std",
                                               "string",
                                               "allocator",
                                               "basic_string",
                                               "istream",
                                               "ostream",
                                               "iostream",
                                               "closure",
                                               "impl",
                                               "shim",
                                               "vtable",
                                               "unsigned",
                                               "signed",
                                               "long",
                                               "short",
                                               "int",
                                               "char",
                                               "bool",
                                               "void",
                                               "float",
                                               "double",
                                               "const",
                                               "volatile",
                                               "new",
                                               "delete",
                                               "as",
                                               "dyn",
                                               "mut",
                                               "u8",
                                               "for",
                                               "clone",
                                               "abi",
                                               "unnamed",
                                               "str",
                                               "usize",
                                               "basic_istream",
                                               "basic_ostream",
                                               "basic_iostream"};
  // Parameters and template arguments have abbreviations and substitutions.
  name = name.substr(0, name.find("operator"));
  const bool is_glob = IsGlob(name);
  std::string_view longest;
  int depth = 0;
  for (std::size_t at = 0; at < name.size();) {
    if (!IsOfIdentifier(name[at])) {
      if (name[at] == '[') ++depth;
      if (name[at] == ']') --depth;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < name.size() && IsOfIdentifier(name[end])) ++end;
    const std::string_view word = name.substr(at, end - at);
    at = end;
    const auto may_be_part = [&](std::string_view abbreviated) {
      return is_glob ? abbreviated.contains(word) : abbreviated == word;
    };
    const bool is_plain = depth == 0 && !IsDigit(word.front()) &&
                          std::ranges::none_of(word, IsNotAscii) &&
                          std::ranges::none_of(kAbbreviated, may_be_part);
    if (is_plain && word.size() > longest.size()) longest = word;
  }
  return longest;
}

Result<std::vector<std::string>> ReadKernelFunctions() {
  TRY_ASSIGN(const std::string text, ReadWholeFile("/proc/kallsyms"));
  return DecodeKernelFunctions(text);
}

std::vector<std::string> DecodeKernelFunctions(std::string_view kallsyms) {
  std::vector<std::string> names;
  while (!kallsyms.empty()) {
    const std::size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
    std::string_view line = kallsyms.substr(0, end);
    kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
    const std::size_t space = line.find(' ');
    constexpr std::size_t kTypeAndSpaces = 3;
    if (space == std::string_view::npos || line.size() < space + kTypeAndSpaces) continue;
    const char type = line[space + 1];
    if (!std::string_view("tTwW").contains(type) || line.ends_with("\t[bpf]")) continue;
    line.remove_prefix(space + kTypeAndSpaces);
    if (line.starts_with("__pfx_")) continue;  // padding before a function
    names.emplace_back(line.substr(0, line.find('\t')));
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace perftape::record
