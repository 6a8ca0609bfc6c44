// SPDX-License-Identifier: Apache-2.0
// Owners of what libbpf and the skeletons of bpftool create. They may be declared with types that
// are not complete.
#pragma once

#include <cerrno>
#include <memory>
#include <string>

#include "formats/base/result.h"
#include "record/bpf/libbpf_log.h"

struct bpf_link;

namespace perftape::record {

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
