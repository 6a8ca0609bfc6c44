// SPDX-License-Identifier: Apache-2.0
// The program of one tool. PERFTAPE_TOOL is the tool's namespace.
#include "tools/mains.h"

int main(int argc, char** argv) noexcept {
  return perftape::PERFTAPE_TOOL::Main(argc, argv);
}
