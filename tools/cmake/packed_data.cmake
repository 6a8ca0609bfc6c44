# SPDX-License-Identifier: Apache-2.0
# For scripts that make a C++ file with compressed constants (formats/base/packed_data.h).
include_guard()

# Appends to `source` an array of chars with what is in a file.
function(append_bytes name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  set(source "${source}constexpr char ${name}[] = {\n${bytes}};\n" PARENT_SCOPE)
endfunction()

# Appends to `source` a constant of type PackedData, with what is in a file.
function(append_packed_file name file)
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/${name}.zst)
  file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${file} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
  append_bytes(${name}Frame ${packed})
  file(REMOVE ${packed})
  file(SIZE ${file} size)
  set(source "${source}const PackedData ${name} = {{${name}Frame, sizeof ${name}Frame}, ${size}};\n" PARENT_SCOPE)
endfunction()

# The same with a text.
function(append_packed_text name text)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.txt)
  file(WRITE ${file} "${text}")
  append_packed_file(${name} ${file})
  file(REMOVE ${file})
  set(source "${source}" PARENT_SCOPE)
endfunction()
