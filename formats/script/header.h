// SPDX-License-Identifier: Apache-2.0
// The comments at the start of a text: what perf script --header prints (perf_header__fprintf_info
// of util/header.c), and what perftape adds.
//
//   # ========
//   # hostname : build7
//   # os release : 6.1.0-50-amd64
//   # cmdline : /usr/bin/perf record -a
//   # ========
//   #
//
// perftape also writes the lines below. Other readers skip all lines that begin with '#'.
//
//   # perftape text : 1                         names are escaped (escape.h)
//   # perftape event : plain bytes alloc_space  the values of an event (or "sampled"), its unit and
//                                               name
//   # perftape note : made by hand              any other comment of a profile
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/script/frame_line.h"

namespace perftape::script {

struct HeaderEvent {
  std::string name = {}, unit = {};
  bool is_plain = false;  // its samples have a value each, and are not counted
};

// The texts are not escaped.
struct Header {
  Writer writer = Writer::kPerf;
  // "hostname: build7"; without a key for a note.
  std::vector<std::string> comments = {};
  std::vector<HeaderEvent> events = {};
};

// Whether the text begins as perf script --header does.
bool BeginsWithHeader(std::string_view text);

// Whether the line is a comment: "#", or "# " and anything.
bool IsComment(std::string_view line);

// Adds the content of a comment if it is known and not a repetition.
void ReadComment(std::string_view line, Header& header);

// Appends a header of perftape.
void AppendHeader(std::string& out, const Header& header);

}  // namespace perftape::script
