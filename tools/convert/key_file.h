// SPDX-License-Identifier: Apache-2.0
// The file with the key of --anonymize.
#pragma once

#include <filesystem>

#include "convert/anonymize/pseudonyms.h"
#include "formats/base/result.h"
#include "tools/common/cli/console.h"

namespace perftape::convert_tool {

// Warns if other users can read the file. The errors are those of ReadWholeFile and of
// NameKey::FromSecret.
Result<anonymize::NameKey> ReadKey(const std::filesystem::path& path, cli::Console& console);

}  // namespace perftape::convert_tool
