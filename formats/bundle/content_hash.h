// SPDX-License-Identifier: Apache-2.0
// The identity of a file that has no build id: the SHA-256 of all its bytes, as sha256sum(1) prints
// it.
#pragma once

#include <cstdint>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/file.h"

namespace perftape::bundle {

// Returns 64 hexadecimal digits in lower case.
std::string ContentHash(Bytes content);
// The same of a mapped file. Empty if the file has no bytes or more than `most`, or if it was
// truncated meanwhile.
std::string ContentHash(const MappedFile& file, std::uint64_t most);

}  // namespace perftape::bundle
