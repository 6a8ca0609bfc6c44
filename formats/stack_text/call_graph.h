// SPDX-License-Identifier: Apache-2.0
// The call graph that macOS's sample prints. The number of a line counts the samples of the frame
// and everything it calls; the column of the number is its depth:
//
//   Call graph:
//       2669 Thread_1234   DispatchQueue_1: com.apple.main-thread  (serial)
//       + 2669 start  (in libdyld.dylib) + 1  [0x7fff5c2b53d5]
//       +   2000 main  (in app) + 20  [0x10b5d2f00]
//       +   ! 1999 work  (in app) + 7,9  [0x10b5d2e00,0x10b5d2e02]
//
//   Total number in stack (recursive counted multiple, when >=5):
#pragma once

#include <string_view>

#include "formats/stack_text/counted_stack.h"

namespace perftape::stack_text {

bool IsCallGraph(std::string_view beginning);

// The comm of a stack is its thread. The number is that of samples in the innermost frame itself.
TextCounts ReadCallGraph(std::string_view text, const StackSink& sink);

}  // namespace perftape::stack_text
