# SPDX-License-Identifier: Apache-2.0
# Compiles for arm64 on another machine, with Debian's cross compiler. PERFTAPE_ARM64_ROOT is a
# directory with the arm64 libraries; tests/guest/debian.py makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT $ENV{PERFTAPE_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH $ENV{PERFTAPE_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR}
  $ENV{PERFTAPE_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:$ENV{PERFTAPE_ARM64_ROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{PERFTAPE_ARM64_ROOT})
