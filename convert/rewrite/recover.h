// SPDX-License-Identifier: Apache-2.0
// Recovers a damaged perf.data. The new file has every complete record, in the same order. Its
// header is rebuilt. It has the features that can be decoded, or rebuilt from the records.
#pragma once

#include <filesystem>

#include "convert/rewrite/recover_report.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::rewrite {

// Writes what can be read of `file` to `output`. `file` may be of any container, version and byte
// order. The output is a little-endian PERFILE2 file, uncompressed, that perf 6.1 opens. The output
// gets its name when it is complete, and replaces an existing file. A bundle in `file` is copied.
// Memory does not grow with the file's length.
//
// Fails with kTruncated or kCorrupt, naming the offset, if nothing can be recovered. Fails with kIo
// or kPermission as the output does. After a failure nothing is written.
Result<RecoverReport> Recover(Bytes file, const std::filesystem::path& output);

}  // namespace perftape::rewrite
