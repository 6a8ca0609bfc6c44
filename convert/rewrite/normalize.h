// SPDX-License-Identifier: Apache-2.0
// Rewrites a perf.data of any container, version and byte order as a little-endian PERFILE2. The
// result is a file or a pipe, compressed or not, limited to what a given version of perf can read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "convert/rewrite/reader_limits.h"
#include "convert/rewrite/rewrite_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

// The callchain that a sample gets, with context markers. Nothing if it keeps its own.
using NewChain = std::optional<std::span<const std::uint64_t>>;

struct NormalizeOptions {
  perfdata::Container container = perfdata::Container::kFile;
  std::optional<int> compression_level = {};  // of zstd, 1 to 22; not compressed if not set
  const ReaderLimits* reader = nullptr;  // the version of perf that must read it; null: no limits
  // The samples to keep: an entry for each SAMPLE record, in file order. Null: all.
  const std::vector<bool>* kept_samples = nullptr;
  // If set, callchains replace the copies of registers and stack in the events' samples. The
  // function is called for each SAMPLE record, in file order. The chain must be valid until the
  // next call.
  std::function<NewChain()> next_chain = {};
  // Added to the build ids of the input: in the feature BUILD_ID of a file, as records at the
  // beginning of a pipe.
  std::vector<perfdata::BuildIdEntry> build_ids = {};
};

// A record that was not written.
struct DroppedRecord {
  perfdata::RecordView header;  // without its bytes, which are no longer valid
  std::size_t size = 0;
  std::string reason;  // with its offset: "record at 0x1a8: SAMPLE of 24 bytes: ..."
};

struct NormalizeReport {
  // The largest number of dropped records that are listed.
  static constexpr std::size_t kMostDropped = 1000;

  RecordCounts kept;
  // Records whose content is in the new header: ATTR, FEATURE, TRACING_DATA, BUILD_ID. Also
  // CALLCHAIN_DEFERRED, if its user frames are in the samples, and
  // FINISHED_ROUND of a directory, whose rounds do not apply to a single file. COMPRESSED records
  // are not counted, only their contents.
  RecordCounts moved;
  // Complete records of types that the reader does not support.
  RecordCounts left_out;
  std::uint64_t filtered_samples = 0;  // left out because of kept_samples
  // Damaged records that were not written: too short for their type, of an unknown event, or in the
  // other byte order with unknown fields.
  RecordCounts lost;
  std::vector<DroppedRecord> dropped;  // the first kMostDropped of them, in file order
  std::vector<FeatureOutcome> features;
  std::vector<std::string> problems;  // errors in the input that could be skipped
  std::optional<Error> damage;        // why reading stopped before the end of the input
  std::uint64_t size = 0;             // bytes written

  std::uint64_t records() const { return TotalOf(kept); }  // records kept
  std::uint64_t samples() const { return CountOf(kept, perfdata::RecordType::kSample); }
  // Returns whether nothing was lost, apart from what was left out on purpose.
  bool is_whole() const;
};

// Writes every valid record of `input`, in file order, to `output`: a path, or "-" for stdout,
// where only a pipe can be written. The file gets its name when it is complete, and replaces an
// existing one. A stream is copied into a temporary file first. The input's bundle is copied if the
// output is a file. Memory does not grow with the input's length.
//
// Fails as Reader::Open does if the input cannot be opened. Fails with kInvalidArgument for a file
// container to stdout, or a compression level that zstd does not have. Fails with kIo or
// kPermission as the output does. After a failure no file has the output's name.
Result<NormalizeReport> Normalize(Input& input, const std::filesystem::path& output,
                                  const NormalizeOptions& options);

}  // namespace perftape::rewrite
