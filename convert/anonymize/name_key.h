// SPDX-License-Identifier: Apache-2.0
// The secret that turns names into pseudonyms. Nobody without it can test a guess, because the hash
// is keyed (BLAKE2b of libsodium).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::anonymize {

class NameKey {
 public:
  // The least size of a secret in bytes: that of a 128-bit key.
  static constexpr std::size_t kLeastSize = 16;

  // Makes the key of a secret, which may be of any larger size. Returns kInvalidArgument if it is
  // smaller.
  static Result<NameKey> FromSecret(Bytes secret);

  // Fills `hash`, of 16 to 64 bytes, with the keyed hash of `text` in the domain `domain`. Equal
  // texts have other hashes in other domains. Any thread may call it.
  void Hash(std::string_view domain, std::string_view text, std::span<std::byte> hash) const;

 private:
  NameKey() = default;
  std::array<std::byte, 32> key_ = {};
};

}  // namespace perftape::anonymize
