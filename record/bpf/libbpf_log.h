// SPDX-License-Identifier: Apache-2.0
// The messages of libbpf, and the errors that quote them.
#pragma once

#include <expected>
#include <string>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"

namespace perftape::record {

// Sends libbpf's messages of this thread to `log`, and to `user` if it is set, during its lifetime.
class CapturedLog {
 public:
  // Both must outlive this. `user` may be null.
  CapturedLog(std::string& log, const LibbpfLog* user);
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog();
};

// Returns the error of libbpf: what the machine lacks, or the last lines of `log`.
std::unexpected<Error> ExplainFailure(const char* what, int error_number, const std::string& log);

}  // namespace perftape::record
