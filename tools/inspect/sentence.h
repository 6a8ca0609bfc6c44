// SPDX-License-Identifier: Apache-2.0
// Sentences about a JSON value, which contain its members.
#pragma once

#include <string>
#include <string_view>

#include "formats/json/value.h"

namespace perftape::inspect {

// Replaces the names in braces by the members of `json` with these names, and {} by `json` itself:
//
//   "node {node}: CPUs {cpus}"      "node 0: CPUs 0-3"
//   "{formats_size|byte}"           "1 byte", "17 bytes"; a list is counted
//   "first {first_sample_time|s}"   nanoseconds as seconds: "first 1.000000005"
//
// A list without a noun is joined with commas. Texts are escaped for a terminal. A member that does
// not exist is replaced by nothing. Numbers are integers. `sentence` has balanced braces, none in
// another.
std::string Sentence(std::string_view sentence, const json::Value& json);

}  // namespace perftape::inspect
