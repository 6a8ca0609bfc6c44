// SPDX-License-Identifier: Apache-2.0
#include "record/machine/cpu_list.h"

#include <string>
#include <utility>

#include "formats/base/cpu_list.h"
#include "formats/base/file.h"

namespace perftape::record {
namespace {

Result<std::vector<int>> ReadCpuList(const std::filesystem::path& path) {
  TRY_ASSIGN(std::string text, ReadWholeFile(path));
  if (text.ends_with('\n')) text.pop_back();
  Result<std::vector<int>> cpus = CpuListOf(text);
  if (!cpus) return Fail(InContext(path.string(), std::move(cpus).error()));
  return cpus;
}

}  // namespace

Result<std::vector<int>> OnlineCpus(const std::filesystem::path& sys_root) {
  return ReadCpuList(sys_root / "devices/system/cpu/online");
}

Result<std::vector<int>> PresentCpus(const std::filesystem::path& sys_root) {
  return ReadCpuList(sys_root / "devices/system/cpu/present");
}

}  // namespace perftape::record
