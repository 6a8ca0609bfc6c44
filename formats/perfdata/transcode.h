// SPDX-License-Identifier: Apache-2.0
// Converts a record of any file into one that can be written: in native byte order, padded to whole
// words, and in the format of the event that it belongs to in the new file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Appends the record to `out`. A record in native order with an unchanged format is copied, and
// only padded at its end. Any other record is decoded and encoded again. That removes the bytes
// after its known fields and the padding of names. RAW, STACK_USER and AUX keep the byte order of
// the recording machine, because their types are unknown.
//
// `format` is null for a record of an unknown event. `target` is the format in the new file, null
// for the same one. Fields that it does not have are removed. kUnsupported for a record in foreign
// order if its event is unknown, or if its type has no struct. kTruncated for a record that is
// shorter than its fields and has to be encoded again. kInvalidArgument if the new record is larger
// than kMaxRecordSize. After an error, nothing is appended.
Status Transcode(const RecordView& record, const SampleFormat* format, const SampleFormat* target,
                 std::vector<std::byte>& out);

// Appends a sample of the format `from` in the format `to`. Fails as EncodeSample does.
Status EncodeSampleFor(Sample sample, const SampleFormat& from, const SampleFormat& to,
                       std::uint16_t misc, std::vector<std::byte>& out);

}  // namespace perftape::perfdata
