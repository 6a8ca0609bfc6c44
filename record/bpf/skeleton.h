// SPDX-License-Identifier: Apache-2.0
// What all users of libbpf share: its messages, the errors that quote them, and owners of the
// objects that libbpf and the skeletons of bpftool create. The owners may be declared with
// incomplete types.
#pragma once

#include <cerrno>
#include <expected>
#include <memory>
#include <string>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"

struct bpf_link;

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

struct DestroySkeleton {
  template <class Generated>
  void operator()(Generated* skeleton) const {
    Generated::destroy(skeleton);
  }
};

// A generated skeleton, such as on_cpu_bpf: open or loaded.
template <class Generated>
using Skeleton = std::unique_ptr<Generated, DestroySkeleton>;

// Opens the programs, which are not loaded yet. Messages of libbpf are quoted from `log`.
template <class Generated>
Result<Skeleton<Generated>> OpenSkeleton(const std::string& log) {
  Skeleton<Generated> skeleton(Generated::open());
  if (!skeleton) return ExplainFailure("cannot open the BPF programs", errno, log);
  return skeleton;
}

struct DestroyLink {
  void operator()(bpf_link* link) const;
};
using Link = std::unique_ptr<bpf_link, DestroyLink>;

}  // namespace perftape::record
