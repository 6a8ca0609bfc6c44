// SPDX-License-Identifier: Apache-2.0
// Names of any bytes as frames of a folded line, reversibly. The format has no escaping of its own;
// what would end a frame or a line, or do something to a terminal (formats/base/unsafe_text.h, but
// for the tab), is written as '%' and upper-case hex digits:
//
//   ';'   %3B        line feed   %0A        NUL   %00        ESC   %1B        …
//   U+009B   %u009B      U+202E   %u202E      the byte 0x9b, where it is no UTF-8   %x9B
//
// The forms with a letter are none that URLs have, as the frames of JavaScript hold them: there
// "%D1%9B" is one character. In the last frame of a line, since flamegraph.pl and inferno take
// "id 7 12" for two counts,
//
//   a space or tab before a number at the end   %20, %09        "id 7" as "id%207"
//
// and, since a line that begins with "# " is a comment, in a frame that begins so or is "#" alone,
//
//   '#'   %23        "# 7" as "%23%207"
//
// A '%' is itself only where one of these would follow it; "%25" is written for it then, so that
// the name "%3B" becomes "%253B", and "%253B" becomes "%25253B". Every other name stays as it is,
// "100%" and "a\b" and "%2F" among them, and so does every frame of other tools' files that holds
// none of these.
//
//   FrameName(EscapedFrame(name)) == name    for every name, LeafName likewise;
//   EscapedFrame(FrameName(text)) == text    for every text that holds none of these raw, and no
//                                            "%x9B" that completes a broken character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perftape::folded {

// Of a last frame that ends in a space and a number.
enum class CountLike : std::uint8_t {
  kEscape,
  kKeep,  // as it is: where all lines of a file end so it has two columns of counts
};

// Appends a name as a frame that others follow; the ';' is the caller's.
void AppendFrame(std::string& out, std::string_view name);
// The same as the last frame of its line.
void AppendLeaf(std::string& out, std::string_view name, CountLike count_like);

// Whether the name ends in a space or tab and a number: "id 7", "id 7.5", but neither "id7" nor
// "7".
bool EndsLikeACount(std::string_view name);

// Whether FrameName might change the text at all. LeafName changes no other either.
inline bool MayBeEscaped(std::string_view text) {
  return text.find('%') != std::string_view::npos;
}
// The name that a frame's text stands for; as the last frame of its line, LeafName.
std::string FrameName(std::string_view text);
std::string LeafName(std::string_view text);

}  // namespace perftape::folded
