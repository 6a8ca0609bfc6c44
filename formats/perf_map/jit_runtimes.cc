// SPDX-License-Identifier: Apache-2.0
#include "formats/perf_map/jit_runtimes.h"

#include <cctype>

namespace perftape::perf_map {
namespace {

// From the documents of the runtimes.
constexpr JitRuntime kRuntimes[] = {
    {.name = "Node.js", .advice = "node --perf-basic-prof", .binaries = "node nodejs libnode.so"},
    {.name = "Deno", .advice = "deno run --v8-flags=--perf-basic-prof", .binaries = "deno"},
    {.name = "Java",
     .advice = "java -XX:+DumpPerfMapAtExit (JDK 17 or later)",
     .binaries = "java libjvm.so",
     .frame_pointers = "java -XX:+PreserveFramePointer"},
    {.name = "PHP",
     .advice = "php -d opcache.jit_debug=16",
     .binaries = "php php-fpm php-cgi libphp opcache.so mod_php"},
    {.name = "Erlang", .advice = "erl +JPperf true", .binaries = "beam.smp erl"},
    {.name = "Mono", .advice = "mono --jitmap", .binaries = "mono mono-sgen libmono libmonosgen"},
    {.name = "Ruby", .advice = "ruby --yjit --yjit-perf", .binaries = "ruby libruby"},
    {.name = ".NET",
     .advice = "DOTNET_PerfMapEnabled=1 in its environment",
     .binaries = "dotnet libcoreclr.so libclrjit.so"},
    {.name = "Python", .advice = "python3 -X perf (3.12 or later)", .binaries = "python libpython"},
    {.name = "LuaJIT",
     .advice = "a LuaJIT that was built with -DLUAJIT_USE_PERFTOOLS",
     .binaries = "luajit libluajit"},
    {.name = "Julia",
     .advice = "ENABLE_JITPROFILING=1 in its environment",
     .binaries = "julia libjulia"},
    {.name = "PostgreSQL",
     .advice = "jit_profiling_support=on in postgresql.conf",
     .binaries = "llvmjit.so"},
    {.name = "QEMU", .advice = "qemu -perfmap", .binaries = "qemu"},
    {.name = "Wasmtime", .advice = "wasmtime --profile=perfmap", .binaries = "wasmtime"},
};

// Whether `name` is `word`, with a version after it: "python3.11", "libruby-3.1.so", "node".
bool IsOf(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  const std::string_view rest = name.substr(word.size());
  return rest.empty() || std::isalpha(static_cast<unsigned char>(rest.front())) == 0;
}

}  // namespace

const JitRuntime* FindJitRuntime(std::string_view path_or_comm) {
  const std::string_view name = path_or_comm.substr(path_or_comm.find_last_of('/') + 1);
  for (const JitRuntime& runtime : kRuntimes) {
    for (std::string_view words = runtime.binaries; !words.empty();) {
      const std::size_t end = words.find(' ');
      if (IsOf(name, words.substr(0, end))) return &runtime;
      words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    }
  }
  return nullptr;
}

std::string NamingAdvice(const std::vector<const JitRuntime*>& runtimes) {
  std::string advice =
      "made at run time: its names are only in a perf map or jitdump, which the runtime writes if "
      "it is started ";
  if (runtimes.empty()) return advice + "so (perftape(7), CODE MADE AT RUN TIME)";
  const char* separator = "with ";
  for (const JitRuntime* runtime : runtimes) {
    advice.append(separator).append(runtime->advice);
    separator = ", or ";
  }
  return advice;
}

}  // namespace perftape::perf_map
