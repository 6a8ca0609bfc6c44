// SPDX-License-Identifier: Apache-2.0
// Recovers a damaged perf.data. The new file has every complete record, in the same order, a
// rebuilt header, and the features that can be decoded or rebuilt from the records.
#pragma once

#include <filesystem>

#include "convert/rewrite/recover_report.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::rewrite {

// Writes what can be read of `file`, which may be of any kind, age and byte order, to `output`: a
// little-endian file of the format PERFILE2, uncompressed, that perf 6.1 opens. It has its name
// when it is complete; what had the name is replaced. A bundle in it goes along. Memory does not
// follow the file's length.
//
// kTruncated, kCorrupt, naming the offset, where nothing can be recovered; kIo, kPermission of the
// output. Nothing is written then.
Result<RecoverReport> Recover(Bytes file, const std::filesystem::path& output);

}  // namespace perftape::rewrite
