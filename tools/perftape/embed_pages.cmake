# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=man_pages.cc -P embed_pages.cmake -- PAGE.md…
# Makes the function of man_pages.h of these files.
cmake_minimum_required(VERSION 3.25)

set(constants "")
set(cases "")
set(is_page FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  set(page "${CMAKE_ARGV${index}}")
  if(is_page)
    file(READ ${page} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND constants "constexpr char kPage${index}[] = {\n${bytes}};\n")
    cmake_path(GET page STEM LAST_ONLY name)
    string(APPEND cases "  if (name == \"${name}\") return {kPage${index}, sizeof kPage${index}};\n")
  elseif(page STREQUAL "--")
    set(is_page TRUE)
  endif()
endforeach()

file(WRITE ${OUTPUT} "// Made by embed_pages.cmake.
#include \"tools/perftape/man_pages.h\"

namespace perftape::front_tool {
namespace {

${constants}
}  // namespace

std::string_view ManPageSource(std::string_view name) {
${cases}  return {};
}

}  // namespace perftape::front_tool
")
