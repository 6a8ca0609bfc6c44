// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/demangle.h"

#include <libiberty/demangle.h>

#include <csetjmp>
#include <cstddef>

namespace perftape {
namespace {

// Each pair of a type with itself doubles the text, so that 200 characters can stand for gigabytes.
constexpr std::size_t kLongestName = 64 << 10;
// Without DMGL_PARAMS, as perf report: "Tape::play", not "Tape::play(int)".
constexpr int kOptions = DMGL_AUTO | DMGL_ANSI;

// Not a std::string: what a jump leaves behind must need no destructor.
struct Output {
  char text[kLongestName];
  std::size_t size;
  std::jmp_buf too_long;
};

void Append(const char* text, std::size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  // libiberty cannot be told to stop. Its frames between here and there hold nothing to free but,
  // of a Rust name in punycode, one identifier.
  if (size > kLongestName - output.size) std::longjmp(output.too_long, 1);
  for (std::size_t i = 0; i < size; ++i) output.text[output.size++] = text[i];
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

bool DemangleInto(Output& output, const char* name, Demangler demangler) {
  output.size = 0;
  if (setjmp(output.too_long) != 0) return false;
  return demangler(name, kOptions, Append, &output) != 0;
}

}  // namespace

// What cplus_demangle does for DMGL_AUTO: Rust first, since its older names are C++ ones as well.
std::string Demangle(const std::string& name) {
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return name;
  if (name.size() > kLongestName) return name;
  static thread_local Output output;
  for (const Demangler demangler : {&rust_demangle_callback, &cplus_demangle_v3_callback}) {
    if (DemangleInto(output, name.c_str(), demangler) && output.size != 0) {
      return std::string(output.text, output.size);
    }
  }
  return name;
}

}  // namespace perftape
