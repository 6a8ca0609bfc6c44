// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/key_file.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>

#include "formats/base/file.h"

namespace perftape::convert_tool {

Result<anonymize::NameKey> ReadKey(const std::filesystem::path& path, cli::Console& console) {
  TRY_ASSIGN(const std::string secret, ReadWholeFile(path));
  auto key = anonymize::NameKey::FromSecret(AsBytes(secret));
  if (!key) return Fail(InContext(path.native(), std::move(key).error()));
  using std::filesystem::perms;
  std::error_code none;
  const perms others = std::filesystem::status(path, none).permissions();
  if (!none && (others & (perms::group_read | perms::others_read)) != perms::none) {
    console.Warning(
        fmt::format("{0}: other users can read this key: 'chmod 600 {0}'", path.native()));
  }
  return key;
}

}  // namespace perftape::convert_tool
