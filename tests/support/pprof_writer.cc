// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pprof_writer.h"

#include "formats/pprof/field_writer.h"
#include "formats/pprof/layout.h"

namespace perftape::pprof {

std::string Encode(const Profile& profile) {
  std::string encoded;
  AppendFields(encoded, [&](auto& fields) { Layout(fields, profile); });
  return encoded;
}

}  // namespace perftape::pprof
