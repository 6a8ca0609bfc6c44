// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/name_key.h"

#include <fmt/format.h>
#include <sodium.h>

#include <cstdint>
#include <string>

namespace perftape::anonymize {
namespace {

unsigned char* Into(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

const unsigned char* Raw(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
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

}  // namespace perftape::anonymize
