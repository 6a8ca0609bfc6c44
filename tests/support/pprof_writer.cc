// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pprof_writer.h"

#include "formats/pprof/layout.h"
#include "formats/protobuf/field_writer.h"

namespace perftape::pprof {

std::string Encode(const Profile& profile) {
  std::string encoded;
  protobuf::AppendFields(encoded, [&](auto& fields) { Layout(fields, profile); });
  return encoded;
}

}  // namespace perftape::pprof
