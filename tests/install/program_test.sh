#!/usr/bin/env bash
# The README's program, built with an installed weft as its users do it: `program_test.sh WAY TREE INSTALL README`, WAY one of gcc,
# pkg-config and cmake. Passes with a line that says so where the tool is not installed.
set -euo pipefail
way=$1 tree=$2 install=$PWD/$3 readme=$4

tool=$way
[[ $way != gcc ]] || tool=g++
if ! command -v "$tool" >/dev/null || ! command -v g++ >/dev/null; then
  echo "install: skipped, there is no $tool"
  exit 0
fi

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/install.XXXXXX")
prefix=$work/prefix
"$install" "$tree" --prefix "$prefix"
awk '/^```cpp/ { inside = 1; next } /^```/ && inside { exit } inside' "$readme" >"$work/program.cc"
cd "$work"

# What is installed needs none of the libraries behind it to compile, and is complete.
if grep -rnE 'include *[<"](Eigen|unsupported|dnnl|oneapi|spdlog|fmt|nlohmann|png|zlib)' "$prefix/include"; then
  echo "install: the headers above need a library of the kernels" >&2
  exit 1
fi

case $way in
  gcc) # as the README has it
    g++ -std=c++20 program.cc -I "$prefix/include/weft" -L "$prefix/lib" \
      -lweft -ldnnl -lpng -lz -lspdlog -lfmt -lgomp -o program
    ;;
  pkg-config)
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    g++ program.cc $(pkg-config --cflags --libs weft) -o program
    ;;
  cmake)
    cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(program CXX)
find_package(weft REQUIRED)
add_executable(program program.cc)
target_link_libraries(program weft::weft)
EOF
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || { cat cmake.log >&2 && exit 1; }
    cmake --build build >cmake.log 2>&1 || { cat cmake.log >&2 && exit 1; }
    cp build/program program
    ;;
esac

./program
# It ends by writing its weights: 784 * 128 + 128 + 128 * 10 + 10 floats and a header.
size=$(stat -c %s mlp.safetensors)
((size > 407080 && size < 412000)) || { echo "install: mlp.safetensors has $size bytes" >&2 && exit 1; }
echo "install: the README's program runs, built by $way"
