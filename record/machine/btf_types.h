// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

struct btf;

namespace perftape::record {

struct FreeBtf {
  void operator()(btf* types) const;
};

// Types of the kernel or of a BPF program, as libbpf loads them; null if it cannot.
using BtfTypes = std::unique_ptr<btf, FreeBtf>;

}  // namespace perftape::record
