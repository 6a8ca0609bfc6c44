// SPDX-License-Identifier: Apache-2.0
#include "formats/protobuf/message_bytes.h"

#include <fmt/core.h>

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace perftape::protobuf {

Result<std::optional<Bytes>> NextMessage(std::uint32_t number, Bytes& rest, Bytes file) {
  try {
    const std::string_view text = AsText(rest);
    protozero::pbf_reader in(text.data(), text.size());
    while (in.next()) {
      if (in.tag() == number && in.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
        const protozero::data_view content = in.get_view();
        rest = rest.last(in.length());
        return AsBytes(std::string_view(content.data(), content.size()));
      }
      in.skip();
      rest = rest.last(in.length());
    }
  } catch (const protozero::exception& error) {
    return Damaged(rest, file, error.what());
  }
  return std::nullopt;
}

std::unexpected<Error> Damaged(Bytes at, Bytes file, std::string_view why) {
  return Fail(ErrorCode::kCorrupt,
              fmt::format("at 0x{:x}: damaged or cut protobuf: {}", at.data() - file.data(), why));
}

}  // namespace perftape::protobuf
