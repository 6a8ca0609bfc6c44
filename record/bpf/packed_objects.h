// SPDX-License-Identifier: Apache-2.0
// The BPF objects that clang compiled from bpf/*.bpf.c, which the recorder contains in compressed
// form. The skeletons of bpftool call it.
#pragma once

#include <string_view>

#include "formats/base/bytes.h"

namespace perftape::record {

// Returns the ELF file of bpf/NAME.bpf.c; empty if there is none. It lives until the process ends.
// The first call expands all of them. Thread-safe.
Bytes PackedObject(std::string_view name);

}  // namespace perftape::record
