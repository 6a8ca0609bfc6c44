// SPDX-License-Identifier: Apache-2.0
// The tools, as functions of what main() gets. Each returns the exit status. A tool is a program of
// its own, or part of a single file with all tools (perftape.cc).
#pragma once

namespace perftape {

namespace bundle_tool {
int Main(int argc, char** argv) noexcept;
}
namespace convert_tool {
// Also perf_to_profile, if `argv[0]` has that name.
int Main(int argc, char** argv) noexcept;
}  // namespace convert_tool
namespace doctor_tool {
int Main(int argc, char** argv) noexcept;
}
namespace inspect {
int Main(int argc, char** argv) noexcept;
}
namespace perf_tool {
// Also perf, if `argv[0]` has that name.
int Main(int argc, char** argv) noexcept;
}  // namespace perf_tool
namespace record_tool {
int Main(int argc, char** argv) noexcept;
}
namespace recover_tool {
int Main(int argc, char** argv) noexcept;
}
namespace report_tool {
int Main(int argc, char** argv) noexcept;
}
namespace script_tool {
int Main(int argc, char** argv) noexcept;
}
// Only with PERFTAPE_SERVE, and never in the single file, which has no web server.
namespace serve {
int Main(int argc, char** argv) noexcept;
}
namespace symbolize_tool {
int Main(int argc, char** argv) noexcept;
}
namespace view_tool {
int Main(int argc, char** argv) noexcept;
}

}  // namespace perftape
