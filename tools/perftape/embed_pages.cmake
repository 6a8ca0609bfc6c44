# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=man_pages.cc -P embed_pages.cmake -- PAGE.md…
# Makes the function of man_pages.h of these files.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/packed_data.cmake)

set(source "// Made by embed_pages.cmake.
#include \"tools/perftape/man_pages.h\"

#include \"formats/base/packed_data.h\"

namespace perftape::front_tool {
namespace {

")
set(cases "")
set(is_page FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  set(page "${CMAKE_ARGV${index}}")
  if(is_page)
    append_packed_file(kPage${index} ${page})
    cmake_path(GET page STEM LAST_ONLY name)
    string(APPEND cases "  if (name == \"${name}\") return UnpackText(kPage${index});\n")
  elseif(page STREQUAL "--")
    set(is_page TRUE)
  endif()
endforeach()

file(WRITE ${OUTPUT} "${source}
}  // namespace

std::string ManPageSource(std::string_view name) {
${cases}  return {};
}

}  // namespace perftape::front_tool
")
