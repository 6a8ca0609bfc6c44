// SPDX-License-Identifier: Apache-2.0
// Writes a gzip file piece by piece with zlib, for outputs that are never in memory as a whole. It
// writes one member, because a browser's DecompressionStream rejects files with several members.
//
//   TRY_ASSIGN(GzipWriter gzip, GzipWriter::Create(out));
//   TRY(gzip.Write("text"));
//   TRY(gzip.Finish());
#pragma once

#include <memory>
#include <string_view>

#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::pprof {

class GzipWriter {
 public:
  // `out` must outlive this object. Returns kIo if there is not enough memory.
  static Result<GzipWriter> Create(OutputFile& out);
  GzipWriter(GzipWriter&&) noexcept;
  ~GzipWriter();

  // Fail as the output does.
  Status Write(std::string_view text);
  // Ends the member. Call it once, after the last Write.
  Status Finish();

 private:
  struct State;

  GzipWriter(OutputFile& out, std::unique_ptr<State> state);
  Status Run(std::string_view text, int flush);

  OutputFile* out_;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::pprof
