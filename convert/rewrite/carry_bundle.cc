// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/carry_bundle.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "formats/base/file.h"
#include "formats/bundle/embedding.h"

namespace perftape::rewrite {

Result<std::uint64_t> CarryBundle(Bytes old, const std::filesystem::path& path) {
  // A damaged footer means that there is no bundle; validate reports it.
  const auto extent = bundle::FindEmbedded(old);
  if (!extent || !*extent) return 0;
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return FailErrno(path.native(), errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return FailErrno(path.native(), errno);
  if (!S_ISREG(status.st_mode)) return 0;  // a device such as /dev/null
  const Bytes archive = old.subspan((*extent)->offset, (*extent)->size);
  if (auto embedded = bundle::Embed(fd.get(), archive); !embedded) {
    return Fail(InContext(path.native(), std::move(embedded).error()));
  }
  return archive.size() + bundle::kFooterSize;
}

}  // namespace perftape::rewrite
