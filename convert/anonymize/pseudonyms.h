// SPDX-License-Identifier: Apache-2.0
// The words that replace names, and the secret that they depend on.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/library_version.h"
#include "formats/base/result.h"

namespace perftape::anonymize {

// The secret that turns names into pseudonyms. Nobody without it can test a guess, because the hash
// is keyed (BLAKE2b of libsodium).
class NameKey {
 public:
  // The minimum size of a secret in bytes: the size of a 128-bit key.
  static constexpr std::size_t kLeastSize = 16;

  // Makes a key from a secret of at least this size. Returns kInvalidArgument if the secret is
  // smaller.
  static Result<NameKey> FromSecret(Bytes secret);

  // Fills `hash`, of 16 to 64 bytes, with the keyed hash of `text` in the domain `domain`. Equal
  // texts have different hashes in different domains. Any thread may call it.
  void Hash(std::string_view domain, std::string_view text, std::span<std::byte> hash) const;

 private:
  NameKey() = default;
  std::array<std::byte, 32> key_ = {};
};

// The words that replace names. A word consists of the kind of name and 12 hexadecimal digits of
// its keyed hash: "fn_3f9c2a71b6d0". Equal names have equal words, in all files that are written
// with the same key.
class Pseudonyms {
 public:
  explicit Pseudonyms(const NameKey& key) : key_(key) {}

  // All return an empty text for an empty one.

  // A name of any kind, such as "fn", "comm" or "arg".
  std::string Word(std::string_view kind, std::string_view name) const;
  // "fn_...". A frame without a name stays without one: "[unknown]", "[vdso]"; the file in
  // "[libc.so.6]" is replaced.
  std::string FunctionName(std::string_view name) const;
  // Replaces each component: "/p_.../p_...". The number of components stays, and equal components
  // have equal words in all paths. " (deleted)" stays.
  std::string Path(std::string_view path) const;
  // The file name of a mapping. Names of the kernel and of memory without a file stay.
  std::string MappingName(std::string_view name) const;
  // As many hexadecimal digits as the build id has.
  std::string BuildId(std::string_view hex) const;
  // "event_..." and "unit_...", for those that are not in public_names.h.
  std::string EventName(std::string_view name) const;
  std::string UnitName(std::string_view unit) const;
  // A comment of Metadata ("hostname: box"). The host is replaced, and each word of a command line;
  // the machine and the numbers of the kernel's and of perf's version stay. Other comments become
  // empty.
  std::string Comment(std::string_view comment) const;

 private:
  std::string Digits(std::string_view domain, std::string_view text, std::size_t count) const;

  const NameKey& key_;
};

}  // namespace perftape::anonymize
