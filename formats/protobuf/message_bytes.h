// SPDX-License-Identifier: Apache-2.0
// Reads the messages inside an encoded message one at a time, so that a large one need not be
// decoded as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::protobuf {

// Returns the content of the next field of `rest` that has this number and is a message, a text or
// bytes, and moves the beginning of `rest` after it. Returns nothing after the last one. Fails with
// kCorrupt and the offset in `file`, of which `rest` is a part, if the protobuf is damaged or
// incomplete.
Result<std::optional<Bytes>> NextMessage(std::uint32_t number, Bytes& rest, Bytes file);

// Returns kCorrupt: "at 0x1f40: damaged or cut protobuf: " and the reason. `at` is a part of
// `file`.
std::unexpected<Error> Damaged(Bytes at, Bytes file, std::string_view why);

}  // namespace perftape::protobuf
