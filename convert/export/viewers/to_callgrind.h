// SPDX-License-Identifier: Apache-2.0
// Profile -> callgrind's format, for callgrind_annotate and KCachegrind
// (https://valgrind.org/docs/manual/cl-format.html). Each event is a column of costs.
//
//   fl=(1) /src/main.c     the source file, "???" if unknown; "[thread]" of a root frame
//   fn=(1) main            the second level of a recursion is "main'2"
//   12 100                 line 12 costs 100 itself
//   cfn=(2) work           line 13 calls work, which costs 900 with what it calls
//   calls=1 0
//   13 900
//
// A sampled profile does not know how often a function was called. The number of calls is 1,
// because callgrind_annotate 3.19 takes the costs of 0 calls for the line's own.
#pragma once

#include "convert/export/to_folded.h"
#include "convert/export/viewers/view_report.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

// Writes all events that have samples. Of `options`, uses `value` and `root`. Inlined functions are
// functions that are called. Numbers with decimals are rounded. Fails as the output does.
Result<ViewReport> WriteCallgrind(const convert::Profile& profile,
                                  const convert::FoldedOptions& options, OutputFile& out);

}  // namespace perftape::viewers
