// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/content_hash.h"

#include <sodium.h>

#include <array>

#include "formats/bundle/library_versions.h"

namespace perftape::bundle {

std::string ContentHash(Bytes content) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash = {};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(content.data()),
                     content.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> digits = {};
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  return digits.data();
}

std::string ContentHash(const MappedFile& file, std::uint64_t most) {
  if (file.bytes().empty() || file.bytes().size() > most) return {};
  std::string hash = ContentHash(file.bytes());
  return file.was_truncated() ? std::string() : hash;
}

LibraryVersion SodiumVersion() {
  return {.name = "libsodium", .version = sodium_version_string()};
}

}  // namespace perftape::bundle
