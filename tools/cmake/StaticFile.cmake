# SPDX-License-Identifier: Apache-2.0
# perftape_describe_static_file(TARGET): writes TARGET.sha256 and TARGET.spdx.json beside a static program: its checksum,
# as `sha256sum --check` reads it, and what it consists of, as SPDX 2.3.
include_guard()

# Returns the version of an installed package of Debian; "" on other systems. For libraries that name no version.
function(perftape_version_of_debian result package)
  set(version "")
  find_program(PERFTAPE_DPKG_QUERY dpkg-query)
  if(PERFTAPE_DPKG_QUERY AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${PERFTAPE_DPKG_QUERY} --show --showformat=\${Version} ${package}
      OUTPUT_VARIABLE version ERROR_QUIET)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Returns what REGEX captures in a header, joined by points.
function(perftape_version_in_header result header regex)
  string(MAKE_C_IDENTIFIER "PERFTAPE_HEADER_${header}" path)
  find_file(${path} ${header})
  set(version "")
  if(${path})
    file(STRINGS ${${path}} lines REGEX "${regex}")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "${regex}" matched "${line}")
      list(APPEND version ${CMAKE_MATCH_1})
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

function(perftape_describe_static_file target)
  # Name of pkg-config, name for people, licence.
  set(packages
    "libarchive,libarchive,BSD-2-Clause"
    "libbpf,libbpf,LGPL-2.1-only OR BSD-2-Clause"
    "libelf,elfutils libelf,GPL-2.0-or-later OR LGPL-3.0-or-later"
    "libzstd,zstd,BSD-3-Clause OR GPL-2.0-only"
    "zlib,zlib,Zlib"
    "libdeflate,libdeflate,MIT"
    "liblzma,liblzma,LicenseRef-public-domain"
    "libsodium,libsodium,ISC"
    "libxxhash,xxHash,BSD-2-Clause"
    "fmt,fmt,MIT"
    "nlohmann_json,JSON for Modern C++,MIT")
  foreach(row IN LISTS packages)
    string(REPLACE "," ";" row "${row}")
    list(GET row 0 module)
    list(GET row 1 name)
    list(GET row 2 licence)
    string(MAKE_C_IDENTIFIER "PERFTAPE_SBOM_${module}" prefix)
    pkg_check_modules(${prefix} QUIET ${module})
    list(APPEND rows "${name},${${prefix}_VERSION},${licence}")
  endforeach()
  find_package(Boost REQUIRED COMPONENTS program_options)
  find_package(tsl-robin-map REQUIRED)
  perftape_version_in_header(bzip2 bzlib.h "bzip2/libbzip2 version ([0-9.]+)")
  perftape_version_in_header(glibc features.h "#define[ \t]+__GLIBC[_MINOR]*__[ \t]+([0-9]+)")
  perftape_version_in_header(protozero protozero/version.hpp "PROTOZERO_VERSION_[MAJORINPTCH]+ ([0-9]+)")
  perftape_version_of_debian(libiberty libiberty-dev)
  perftape_version_of_debian(re2 libre2-dev)
  list(APPEND rows
    "bzip2,${bzip2},bzip2-1.0.6"
    "Boost,${Boost_VERSION_STRING},BSL-1.0"
    "glibc,${glibc},LGPL-2.1-or-later"
    "libstdc++ and libgcc,${CMAKE_CXX_COMPILER_VERSION},GPL-3.0-or-later WITH GCC-exception-3.1"
    "protozero,${protozero},BSD-2-Clause"
    "robin-map,${tsl-robin-map_VERSION},MIT"
    "libiberty,${libiberty},LGPL-2.1-or-later AND (GPL-2.0-or-later WITH GCC-exception-2.0)"
    "RE2,${re2},BSD-3-Clause")
  list(SORT rows CASE INSENSITIVE)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DFILE=$<TARGET_FILE:${target}> -DVERSION=${PROJECT_VERSION}
            "-DLIBRARIES=${rows}" -P ${PROJECT_SOURCE_DIR}/tools/cmake/describe_static_file.cmake
    VERBATIM)
endfunction()
