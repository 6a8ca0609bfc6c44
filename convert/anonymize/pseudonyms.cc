// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/pseudonyms.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>

#include "convert/anonymize/public_names.h"
#include "convert/model/profile_facts.h"
#include "formats/base/text.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::anonymize {
namespace {

using perfdata::MappingSource;

unsigned char* Into(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

const unsigned char* Raw(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

constexpr std::string_view kPathWord = "p";  // a component of a path

bool IsBracketed(std::string_view name) {
  return name.size() > 2 && name.front() == '[' && name.back() == ']';
}

// Returns "[vsyscall]" of "[vsyscall]", and of names that begin so.
std::string FirstWord(std::string_view name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto end = std::ranges::find_if_not(name.substr(1), is_word);
  return fmt::format("[{}]", std::string_view(name.begin() + 1, end));
}

}  // namespace

Result<NameKey> NameKey::FromSecret(Bytes secret) {
  if (secret.size() < kLeastSize) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a key of {} bytes can be guessed: it needs {} random bytes or more",
                            secret.size(), kLeastSize));
  }
  if (sodium_init() < 0) return Fail(ErrorCode::kUnsupported, "libsodium cannot start");
  NameKey key;
  crypto_generichash(Into(key.key_), key.key_.size(), Raw(secret), secret.size(), nullptr, 0);
  return key;
}

void NameKey::Hash(std::string_view domain, std::string_view text,
                   std::span<std::byte> hash) const {
  // The size before the domain keeps ("ab", "c") and ("a", "bc") apart.
  crypto_generichash_state state;
  const auto size = static_cast<unsigned char>(domain.size());
  crypto_generichash_init(&state, Raw(key_), key_.size(), hash.size());
  crypto_generichash_update(&state, &size, 1);
  crypto_generichash_update(&state, Raw(AsBytes(domain)), domain.size());
  crypto_generichash_update(&state, Raw(AsBytes(text)), text.size());
  crypto_generichash_final(&state, Into(hash), hash.size());
}

std::string Pseudonyms::Digits(std::string_view domain, std::string_view text,
                               std::size_t count) const {
  constexpr std::size_t kLargestHash = 64;  // bytes
  std::array<std::byte, kLargestHash> hash = {};
  key_.Hash(domain, text, hash);
  std::string digits;
  for (const std::byte byte : hash) {
    AppendFormat(digits, "{:02x}", static_cast<unsigned>(byte));
  }
  return digits.substr(0, count);
}

std::string Pseudonyms::Word(std::string_view kind, std::string_view name) const {
  constexpr std::size_t kDigits = 12;  // a comm has at most 15 bytes
  if (name.empty()) return "";
  return fmt::format("{}_{}", kind, Digits(kind, name, kDigits));
}

std::string Pseudonyms::FunctionName(std::string_view name) const {
  if (!IsBracketed(name)) return Word("fn", name);
  if (perfdata::SourceOf(name) != MappingSource::kModule) return MappingName(name);
  return fmt::format("[{}]", Word(kPathWord, name.substr(1, name.size() - 2)));
}

std::string Pseudonyms::Path(std::string_view path) const {
  const std::string_view whole = perfdata::WithoutDeleted(path);
  std::string words;
  for (std::size_t begin = 0; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find('/', begin), whole.size());
    words += Word(kPathWord, whole.substr(begin, end - begin));
    if (end < whole.size()) words += '/';
    begin = end + 1;
  }
  words += path.substr(whole.size());
  return words;
}

std::string Pseudonyms::MappingName(std::string_view name) const {
  switch (perfdata::SourceOf(name)) {
    case MappingSource::kNone:
      return "";
    case MappingSource::kKernel:
      return std::string(perfdata::kKernelMappingName);
    case MappingSource::kGuestKernel:
      return "[guest.kernel.kallsyms]";
    case MappingSource::kModule:
      return fmt::format("[{}]", Word("mod", perfdata::ModuleNameOf(name)));
    case MappingSource::kVdso:
      return std::string(perfdata::kVdsoMappingName);
    case MappingSource::kAnonymous:
      return std::string(perfdata::kAnonymousMappingName);
    case MappingSource::kNamedAnonymous:
      return fmt::format("[anon:{}]", Word(kPathWord, name));
    case MappingSource::kAnonymousInode:
      return fmt::format("anon_inode:[{}]", Word(kPathWord, name));
    case MappingSource::kMemfd:
      return fmt::format("/memfd:{} (deleted)", Word(kPathWord, name));
    case MappingSource::kSysvSegment:
      return "/SYSV00000000 (deleted)";
    case MappingSource::kHeap:
      return "[heap]";
    case MappingSource::kStack:
      return "[stack]";
    case MappingSource::kPerfMap:
      return fmt::format("/tmp/perf-{}.map", perfdata::PidOfPerfMap(name).value_or(0));
    case MappingSource::kUnnamedFile:
      return fmt::format("//{}", Word(kPathWord, name));
    case MappingSource::kSpecial:
      return FirstWord(name);
    case MappingSource::kFile:
    case MappingSource::kDevice:
      return Path(name);
  }
  return Path(name);
}

std::string Pseudonyms::BuildId(std::string_view hex) const {
  return hex.empty() ? "" : Digits("build id", hex, hex.size());
}

std::string Pseudonyms::EventName(std::string_view name) const {
  return IsPublicEvent(name) ? std::string(name) : Word("event", name);
}

std::string Pseudonyms::UnitName(std::string_view unit) const {
  return IsPublicUnit(unit) ? std::string(unit) : Word("unit", unit);
}

std::string Pseudonyms::Comment(std::string_view comment) const {
  const auto value_of = [&](std::string_view key) { return convert::CommentValue(comment, key); };
  if (!value_of(convert::kArchComment).empty()) return std::string(comment);
  // A name may follow the numbers of a version.
  for (const std::string_view key : {convert::kOsReleaseComment, convert::kPerfVersionComment}) {
    const std::string_view version = value_of(key);
    if (version.empty()) continue;
    std::string_view numbers = version.substr(0, version.find_first_not_of("0123456789."));
    while (numbers.ends_with('.')) numbers.remove_suffix(1);
    if (numbers.empty()) return "";
    return fmt::format("{}{}{}", key, convert::kCommentSeparator, numbers);
  }
  if (const std::string_view host = value_of(convert::kHostnameComment); !host.empty()) {
    return fmt::format("{}{}{}", convert::kHostnameComment, convert::kCommentSeparator,
                       Word("host", host));
  }
  std::string_view words = value_of(convert::kCommandLineComment);
  if (words.empty()) return "";
  std::string anonymous(convert::kCommandLineComment);
  anonymous += ':';
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end != 0) anonymous += " " + Word("arg", words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return anonymous;
}

}  // namespace perftape::anonymize
