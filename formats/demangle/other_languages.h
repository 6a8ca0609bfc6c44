// SPDX-License-Identifier: Apache-2.0
// Names of languages that perf makes readable itself: Java, OCaml, and Rust as older versions of
// perf wrote it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/demangle/demangle.h"

namespace perftape::demangle {

// A method of Java by its descriptor, as perf's agent for the JVM (libperf-jvmti.so) writes it:
// "com.shop.Cart.total(int, long[])" for "Lcom/shop/Cart;total(I[J)J", without parameters for
// kSimple. perf-map-agent's "Lcom/shop/Cart;::total" is "com/shop/Cart::total", as in
// stackcollapse-perf.pl; so are the names of inlined methods, which "->" separates. Nothing for
// other names.
std::optional<std::string> DemangleJava(std::string_view name, Demangling how);

// "Stdlib.List.map_123" for "camlStdlib__List__map_123" (tools/perf/util/demangle-ocaml.c). Nothing
// for other names.
std::optional<std::string> DemangleOcaml(std::string_view name);

// "<app::S as core::fmt::Debug>::fmt" for
// "_$LT$app..S$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef": a legacy name that was
// demangled as C++. Nothing for names without the hash.
std::optional<std::string> DemangleHalfRust(std::string_view name);

}  // namespace perftape::demangle
