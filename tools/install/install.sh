#!/bin/sh
# Copies the installed layout of weft: `./bazelw run //:install -- --prefix DIR`. The first argument, the layout, comes from Bazel.
set -eu
tree=$1
shift

prefix=
case $#:${1:-} in
  2:--prefix) prefix=$2 ;;
  1:--prefix=*) prefix=${1#--prefix=} ;;
esac
# (What an unquoted blank or a mistyped option leaves over is refused with the rest.)
if [ -z "$prefix" ]; then
  echo "weft: where to? ./bazelw run //:install -- --prefix DIR" >&2
  exit 2
fi
# Shells leave the ~ of --prefix=~/DIR as it is.
case $prefix in '~' | '~/'*) prefix=${HOME:?}${prefix#'~'} ;; esac
# Bazel starts this in a folder of its own; a relative DIR is meant from where the user stands.
case $prefix in /*) ;; *) prefix=${BUILD_WORKING_DIRECTORY:-$PWD}/$prefix ;; esac

mkdir -p "$prefix"
cp -RL --no-preserve=mode,ownership "$tree/." "$prefix/"
echo "weft: installed in $prefix (include/weft, lib/libweft.a, lib/pkgconfig, lib/cmake/weft)"
