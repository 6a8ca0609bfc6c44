// SPDX-License-Identifier: Apache-2.0
// Reads and writes the JSON members of a bundle: the manifest and the notes of a recording.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/base/result.h"
#include "formats/json/value.h"

namespace perftape::bundle {

using Json = json::Value;

// Adds a text. File names may be any bytes, but JSON is UTF-8. So other bytes are written as
// hexadecimal digits under a different key. Leaves out an empty text.
void Put(Json& object, const std::string& key, const std::string& text);

// Parses `text`, the member `name`, which must be an object. Returns kUnsupported if it is larger
// than `largest` bytes, and kCorrupt if it is no object. Discards values below `max_depth`, so that
// brackets cost no memory.
Result<Json> ParseObject(std::string_view name, std::string_view text, std::size_t largest,
                         std::size_t max_depth);

// kCorrupt: the field of the object at `position` has a wrong type or value.
std::unexpected<Error> WrongField(const std::string& position, const std::string& field);

// Reads the fields of one object. An absent field is empty. wrong() returns the first field of a
// wrong type, so callers check it once, at the end.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) { Check(object.is_object(), "it"); }

  std::string Text(const std::string& key);
  std::uint64_t Number(const std::string& key);
  double Real(const std::string& key);
  bool Flag(const std::string& key);
  std::uint64_t Address(const std::string& key);
  perftape::BuildId BuildId(const std::string& key);

  // The index of the field's text among `names`.
  template <class Enum, std::size_t kCount>
  Enum OneOf(const std::string& key, const std::array<const char*, kCount>& names) {
    const auto* found = std::ranges::find(names, Text(key));
    Check(found != names.end(), key);
    return found == names.end() ? Enum{} : static_cast<Enum>(found - names.begin());
  }

  // The entries of a list. Empty if the list is absent.
  std::span<const Json> List(const std::string& key);
  bool Has(const std::string& key) const { return Find(key) != nullptr; }

  void Check(bool right, const std::string& key) {
    if (!right && wrong_.empty()) wrong_ = key;
  }
  // The name of the first wrong field. Empty if all are right.
  const std::string& wrong() const { return wrong_; }

 private:
  const Json* Find(const std::string& key) const { return object_.Find(key); }

  const Json& object_;
  std::string wrong_;
};

}  // namespace perftape::bundle
