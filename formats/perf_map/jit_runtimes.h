// SPDX-License-Identifier: Apache-2.0
// The runtimes that compile code while a program runs, and the option that makes each of them write
// the names of that code: a perf map (perf_map.h) or a jitdump. Without this option, no tool can
// name the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perftape::perf_map {

struct JitRuntime {
  std::string_view name;    // "Node.js"
  std::string_view advice;  // what to start it with: "node --perf-basic-prof"
  // The beginnings of the names of its binaries, and of its main threads, with blanks between them.
  std::string_view binaries;
  // What to start it with so that it keeps frame pointers, and stacks continue through its code;
  // empty: nothing is needed.
  std::string_view frame_pointers = {};
};

// Returns the runtime that a mapped file is part of, or the program of a thread of this name; null
// if there is none. "/usr/bin/node", "/usr/lib/jvm/lib/server/libjvm.so", "php-fpm8.2".
const JitRuntime* FindJitRuntime(std::string_view path_or_comm);

// Returns what to do about run-time code without names: "record it again with the names of its
// run-time code in a perf map or jitdump: node --perf-basic-prof". Null entries are not allowed.
std::string NamingAdvice(const std::vector<const JitRuntime*>& runtimes);

}  // namespace perftape::perf_map
